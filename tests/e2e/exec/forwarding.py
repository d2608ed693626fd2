"""Small forward proxies for tests: HTTP CONNECT and SOCKS5, each with a user if wanted."""

from __future__ import annotations

import socket
import socketserver
import struct
import threading
from base64 import b64encode
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress


class Forwarding(socketserver.ThreadingTCPServer):
    """A proxy. `seen` are the places it was asked for; names in `hosts` lead to an address of ours."""

    daemon_threads = True
    allow_reuse_address = True

    def __init__(
        self, kind: type[Handler], hosts: Mapping[str, str], user: str = "", password: str = ""
    ) -> None:
        super().__init__(("127.0.0.1", 0), kind)
        self.hosts = hosts
        self.user, self.password = user, password
        self.seen: list[tuple[str, int]] = []
        self.refusing = False

    @property
    def port(self) -> int:
        return int(self.server_address[1])


class Handler(socketserver.StreamRequestHandler):
    server: Forwarding

    def relay(self, host: str, port: int) -> None:
        with socket.create_connection((self.server.hosts.get(host, host), port)) as upstream:
            self.granted()
            back = threading.Thread(target=_copy, args=(upstream, self.connection))
            back.start()
            _copy(self.connection, upstream)
            back.join()

    def granted(self) -> None:
        raise NotImplementedError


def _copy(source: socket.socket, target: socket.socket) -> None:
    with suppress(OSError):
        while data := source.recv(65536):
            target.sendall(data)
    with suppress(OSError):
        target.shutdown(socket.SHUT_WR)


class Connect(Handler):
    """RFC 9110 §9.3.6, its answer in two pieces as some proxies send it."""

    def handle(self) -> None:
        line = self.rfile.readline().decode()
        headers = {}
        while header := self.rfile.readline().decode().strip():
            name, _, value = header.partition(":")
            headers[name.lower()] = value.strip()
        expected = "Basic " + b64encode(f"{self.server.user}:{self.server.password}".encode()).decode()
        if self.server.user and headers.get("proxy-authorization") != expected:
            self.wfile.write(b"HTTP/1.1 407 Proxy Authentication Required\r\ncontent-length: 0\r\n\r\n")
            return
        method, target, _ = line.split()
        host, _, port = target.rpartition(":")
        self.server.seen.append((host.strip("[]"), int(port)))
        if method != "CONNECT" or self.server.refusing:
            self.wfile.write(b"HTTP/1.1 403 Forbidden\r\ncontent-length: 0\r\n\r\n")
            return
        self.relay(host.strip("[]"), int(port))

    def granted(self) -> None:
        self.wfile.write(b"HTTP/1.1 200 Connection established\r\n")
        self.wfile.flush()
        self.wfile.write(b"via: test\r\n\r\n")


class Socks5(Handler):
    """RFC 1928, with the user of RFC 1929."""

    def handle(self) -> None:
        _, count = self.rfile.read(2)
        offered = self.rfile.read(count)
        method = 2 if self.server.user else 0
        if method not in offered:
            self.wfile.write(b"\x05\xff")
            return
        self.wfile.write(bytes((5, method)))
        if method == 2:
            self.rfile.read(1)
            user = self.rfile.read(self.rfile.read(1)[0]).decode()
            password = self.rfile.read(self.rfile.read(1)[0]).decode()
            if (user, password) != (self.server.user, self.server.password):
                self.wfile.write(b"\x01\x01")
                return
            self.wfile.write(b"\x01\x00")
        kind = self.rfile.read(4)[3]
        if kind == 3:
            host = self.rfile.read(self.rfile.read(1)[0]).decode()
        else:
            family, size = (socket.AF_INET, 4) if kind == 1 else (socket.AF_INET6, 16)
            host = socket.inet_ntop(family, self.rfile.read(size))
        (port,) = struct.unpack("!H", self.rfile.read(2))
        self.server.seen.append((host, port))
        if self.server.refusing:
            self.wfile.write(b"\x05\x02\x00\x01" + bytes(6))
            return
        self.relay(host, port)

    def granted(self) -> None:
        self.wfile.write(b"\x05\x00\x00\x01" + bytes(6))


@contextmanager
def forwarding(
    kind: type[Handler], hosts: Mapping[str, str], user: str = "", password: str = ""
) -> Iterator[Forwarding]:
    """Such a proxy, while this is open."""
    with Forwarding(kind, hosts, user, password) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield server
        server.shutdown()
        thread.join()
