"""A mitmdump without faultwire, the control of attacks: a client reaches it, and it reaches the servers."""

from __future__ import annotations

import contextlib
import os
import socket
import ssl
import subprocess
import sys
import time
from collections.abc import Iterator
from importlib.metadata import version
from pathlib import Path

H2_VERSION = tuple(int(part) for part in version("h2").split(".")[:2])
REFUSES = H2_VERSION >= (4, 3)
"""Since then h2 refuses CR and LF in fields by itself."""
STARTS_S = 20
ENDS_S = 9


@contextlib.contextmanager
def mitmdump(folder: Path, trusted: Path) -> Iterator[int]:
    """The port of one that keeps its authority in `folder` and trusts servers of the authority `trusted`."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = int(free.getsockname()[1])
    command = [
        sys.executable, "-c", "from mitmproxy.tools.main import mitmdump; mitmdump()", "-q",
        "--listen-host", "127.0.0.1", "-p", str(port),
        "--set", f"confdir={folder}", "--set", f"ssl_verify_upstream_trusted_ca={trusted}",
        "--set", "connection_strategy=lazy",
    ]  # fmt: skip
    process = subprocess.Popen(command, env={**os.environ, "HOME": str(folder)})
    try:
        yield port
    finally:
        process.terminate()
        process.wait(ENDS_S)


@contextlib.contextmanager
def by_http2(port: int, target: str, folder: Path) -> Iterator[ssl.SSLSocket]:
    """A client's connection to `target` through it, which speaks HTTP/2."""
    raw = _reached(port)
    raw.sendall(f"CONNECT {target} HTTP/1.1\r\nhost: {target}\r\n\r\n".encode())
    assert b" 200 " in raw.recv(4096)
    context = ssl.create_default_context(cafile=str(folder / "mitmproxy-ca-cert.pem"))
    # Both, since it offers a server what its client offered, and Node and nginx end a handshake that lacks
    # theirs. It takes HTTP/2 for a client that it answers before it calls the server (`lazy`).
    context.set_alpn_protocols(["h2", "http/1.1"])
    with context.wrap_socket(raw, server_hostname=target.partition(":")[0]) as sock:
        assert sock.selected_alpn_protocol() == "h2"
        yield sock


def _reached(port: int) -> socket.socket:
    deadline = time.monotonic() + STARTS_S
    while True:
        try:
            return socket.create_connection(("127.0.0.1", port), STARTS_S)
        except OSError:
            assert time.monotonic() < deadline, "mitmdump did not start"
            time.sleep(0.05)
