"""h2spec's cases against the engine's side of HTTP/2, in a tunnel that is opened for each of its connections.

h2spec is a program of its own: `go install github.com/summerwind/h2spec/cmd/h2spec@latest`.
"""

from __future__ import annotations

import contextlib
import re
import shutil
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from faultwire.mitm.engine.client import Engine

FOUND = shutil.which("h2spec") or shutil.which("h2spec", path=Path.home() / "go" / "bin")
CASES = 146
LIMIT_S = 600
WAIT_S = 4
"""How long h2spec waits for an answer that has to come."""
REFUSED = (
    "http2/8.1.2: Sends a HEADERS frame that contains the header field name in uppercase letters",
    "http2/8.1.2.1: Sends a HEADERS frame that contains a unknown pseudo-header field",
    "http2/8.1.2.1: Sends a HEADERS frame that contains the pseudo-header field defined for response",
    "http2/8.1.2.1: Sends a HEADERS frame that contains a pseudo-header field that appears in a header block "
    "after a regular header field",
    "http2/8.1.2.2: Sends a HEADERS frame that contains the connection-specific header field",
    "http2/8.1.2.2: Sends a HEADERS frame that contains the TE header field with any value other than "
    '"trailers"',
    'http2/8.1.2.3: Sends a HEADERS frame with empty ":path" pseudo-header field',
    *(
        f'http2/8.1.2.3: Sends a HEADERS frame that omits ":{name}" pseudo-header field'
        for name in ("method", "scheme", "path")
    ),
    *(
        f'http2/8.1.2.3: Sends a HEADERS frame with duplicated ":{name}" pseudo-header field'
        for name in ("method", "scheme", "path")
    ),
)
"""Malformed requests, at which h2spec wants the stream or the connection broken off. They get 400 with
the reason and go nowhere: RFC 9113 §8.1.1 lets a server answer before it closes the stream."""
LONG = "http2/4.2: Sends a large size HEADERS frame that exceeds the SETTINGS_MAX_FRAME_SIZE"
"""A frame of 20,000 bytes. It is h2spec that takes 16,384 for the longest; 131,072 are announced."""


def pump(source: socket.socket, sink: socket.socket) -> None:
    with contextlib.suppress(OSError):
        while piece := source.recv(65536):
            sink.sendall(piece)
    for one in (source, sink):
        with contextlib.suppress(OSError):
            one.shutdown(socket.SHUT_RDWR)


@contextlib.contextmanager
def tunnels(place: int, target: str) -> Iterator[int]:
    """A port each of whose connections is one to `target`, through the listener of a session."""

    def serve(near: socket.socket) -> None:
        with near, socket.create_connection(("127.0.0.1", place)) as far:
            far.sendall(f"CONNECT {target} HTTP/1.1\r\nhost: {target}\r\n\r\n".encode())
            head = b""
            while b"\r\n\r\n" not in head:
                head += far.recv(1)
            back = threading.Thread(target=pump, args=(far, near), daemon=True)
            back.start()
            pump(near, far)
            back.join()

    with socket.create_server(("127.0.0.1", 0), backlog=64) as listening:

        def accept() -> None:
            with contextlib.suppress(OSError):
                while True:
                    threading.Thread(target=serve, args=(listening.accept()[0],), daemon=True).start()

        accepting = threading.Thread(target=accept, daemon=True)
        accepting.start()
        yield listening.getsockname()[1]
        listening.shutdown(socket.SHUT_RDWR)
        accepting.join()


def failures(report: Path) -> tuple[int, dict[str, str]]:
    """How many cases there were, and those that failed, had no answer in time, or were left out."""
    cases = list(ElementTree.parse(report).iter("testcase"))
    found = {}
    for case in cases:
        for wrong in (one for kind in ("failure", "error", "skipped") for one in case.iter(kind)):
            found[f"{case.get('package')}: {case.get('classname')}"] = " ".join((wrong.text or "").split())
    return len(cases), found


def ask(port: int, report: Path, *cases: str) -> tuple[int, dict[str, str], str]:
    command = [str(FOUND), *cases, "-t", "-k", "-S", "-p", str(port), "-o", str(WAIT_S), "-j", str(report)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=LIMIT_S, check=False)
    return *failures(report), done.stdout


@pytest.mark.nightly
@pytest.mark.timeout(LIMIT_S + 60)
@pytest.mark.skipif(FOUND is None, reason="`h2spec` is not installed")
def test_every_case_passes_but_those_that_are_answered_with_a_reason(
    tools: Any, engine: Engine, tls_upstream: Any, tmp_path: Path
) -> None:
    tls_upstream.answer("/", b"ok" * 100, "text/plain")
    handle = engine.open_session(tools.fresh("h2spec"), tools.CALM, 1)
    target = f"localhost:{tls_upstream.port}"
    with tunnels(handle.port, target) as port:
        count, found, said = ask(port, tmp_path / "report.xml")
    assert count >= CASES, said
    assert found.keys() == {*REFUSED, LONG}
    for name in REFUSED:
        length = re.search(r"DATA Frame \(length:(\d+), flags:0x01", found[name])
        assert length, found[name]
        assert int(length[1]) > 100, "the reason, not what the server says"
    with tools.Client(engine, target, tls=True, session=handle) as client:
        client.get("/")
        assert client.response()[0] == 200, "the engine goes on"
    assert tls_upstream.asked, "what h2spec asked has come through"
    assert engine.close_session(handle.name).voids == ()


LENIENT = """
import h2.connection, h2.config, socket, ssl, sys
context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
context.load_cert_chain(sys.argv[1])
context.set_alpn_protocols(["h2"])
listening = socket.create_server(("127.0.0.1", 0))
print(listening.getsockname()[1], flush=True)
while True:
    raw, _ = listening.accept()
    try:
        with context.wrap_socket(raw, server_side=True) as link:
            one = h2.connection.H2Connection(h2.config.H2Configuration(client_side=False))
            one.initiate_connection()
            link.sendall(one.data_to_send())
            while data := link.recv(65536):
                pass  # whatever comes, it says nothing of it
    except OSError:
        pass
"""


@pytest.mark.nightly
@pytest.mark.skipif(FOUND is None, reason="`h2spec` is not installed")
def test_control_a_server_that_takes_whatever_comes_fails(test_ca: Any, tmp_path: Path) -> None:
    test_ca.server_context("localhost")
    command = [sys.executable, "-c", LENIENT, str(test_ca.folder / f"server{test_ca.made}.pem")]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
        assert server.stdout is not None
        try:
            _, found, said = ask(int(server.stdout.readline()), tmp_path / "report.xml", "http2/4.2")
        finally:
            server.kill()
    assert found, said
