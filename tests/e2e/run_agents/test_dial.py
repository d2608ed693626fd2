"""Calls to an agent over TLS, and one deadline however slowly its server speaks."""

from __future__ import annotations

import socket
import ssl
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from tests.bench import pki

from faultwire.agents._dial import Dialler, NoReply
from faultwire.agents._request import call, pieces

ANSWER = b"HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\nParis"


@contextmanager
def server(speak: Callable[[socket.socket], None]) -> Iterator[int]:
    """One that takes connections one after another and speaks with each."""
    with socket.create_server(("127.0.0.1", 0)) as listening:

        def serve() -> None:
            with suppress(OSError):
                while True:
                    connection, _ = listening.accept()
                    with connection, suppress(OSError):
                        speak(connection)

        thread = threading.Thread(target=serve, daemon=True)
        thread.start()
        yield listening.getsockname()[1]
        listening.shutdown(socket.SHUT_RDWR)
        thread.join(10)


def ask(url: str, *, timeout_s: float = 10.0) -> bytes:
    told = call("GET", urlsplit(url))
    return Dialler().ask(told, pieces(told), timeout_s=timeout_s).body


def test_over_tls_with_a_root_of_the_users_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    keys = pki.make(tmp_path)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(keys.server)

    def speak(connection: socket.socket) -> None:
        with context.wrap_socket(connection, server_side=True) as secure:
            secure.recv(4096)
            secure.sendall(ANSWER)

    with server(speak) as port:
        monkeypatch.setenv("SSL_CERT_FILE", str(keys.ca))
        assert ask(f"https://localhost:{port}/") == b"Paris"
        monkeypatch.delenv("SSL_CERT_FILE")
        with pytest.raises(NoReply, match=r"was not reached at `localhost:\d+`: .*certificate"):
            ask(f"https://localhost:{port}/")


@pytest.mark.parametrize(
    "before", [b"", b"HTTP/1.1 200 OK\r\nx: ", b"HTTP/1.1 200 OK\r\ncontent-length: 9000\r\n\r\n"]
)
def test_bytes_that_keep_coming_win_no_time(before: bytes) -> None:
    tick = threading.Event()

    def speak(connection: socket.socket) -> None:
        connection.recv(4096)
        connection.sendall(before)
        while True:  # until the other side has had enough
            connection.sendall(b"x")
            tick.wait(0.02)

    with server(speak) as port, pytest.raises(NoReply) as late:
        ask(f"http://127.0.0.1:{port}/", timeout_s=0.3)
    assert late.value.timed_out
    assert late.value.why == "did not answer within 0.3 s"


def test_a_server_that_never_reads_is_late() -> None:
    done = threading.Event()
    with server(lambda connection: bool(done.wait(10)) and None) as port:
        told = call("POST", urlsplit(f"http://127.0.0.1:{port}/"), body=b"x" * 30_000_000)
        with pytest.raises(NoReply) as late:
            Dialler().ask(told, pieces(told), timeout_s=0.3)
        done.set()
    assert late.value.timed_out


def test_names_that_are_none() -> None:
    for host in ("no-such-host.invalid", "a" * 300, "a..b"):
        with pytest.raises(NoReply, match="was not reached"):
            ask(f"http://{host}/")
