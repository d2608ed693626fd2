"""The service as a program: where it listens, who may come in, and until when."""

from __future__ import annotations

import os
import socket
import ssl
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from faultwire.errors import UsageError
from faultwire.mitm.sessions.access import is_loopback

if TYPE_CHECKING:
    from collections.abc import Callable

    from faultwire.ingestion.store import Store

SHORTEST_TOKEN = 20


@dataclass(frozen=True, slots=True)
class Listen:
    """Where to listen. Another address than loopback needs a certificate with its key (PEM), and a token."""

    host: str
    port: int
    certificate: Path | None = None
    key: Path | None = None
    token: str | None = None

    @classmethod
    def parse(
        cls,
        text: str,
        certificate: Path | None,
        key: Path | None,
        token: Path | None,
        *,
        own_tokens: bool = False,
    ) -> Listen:
        """From the options of a command; with `own_tokens` the service knows callers by itself. Raises
        UsageError."""
        host, _, port = text.rpartition(":")
        if not host or not (port.isascii() and port.isdigit()) or int(port) > 65535:
            raise UsageError(f"found `--listen {text}`, expected `HOST:PORT`", code="usage.listen")
        if (certificate is None) != (key is None):
            raise UsageError("found one of `--cert` and `--key`, expected both or none", code="usage.tls")
        found = cls(host.strip("[]"), int(port), certificate, key, None if token is None else _token(token))
        if not is_loopback(found.host) and (certificate is None or (token is None and not own_tokens)):
            missing = "`--cert` and `--key`" if certificate is None else "`--token-file`"
            raise UsageError(
                f"found `--listen` with `{found.host}`, which others can reach, expected {missing} with it",
                code="usage.listen",
                hint="or listen on 127.0.0.1 and forward the port by SSH",
            )
        if certificate is not None and key is not None:
            _check(certificate, key)
        return found

    def bind(self) -> socket.socket:
        """The socket. Raises UsageError where the port is taken."""
        bound = socket.socket(socket.AF_INET6 if ":" in self.host else socket.AF_INET, socket.SOCK_STREAM)
        try:
            bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            bound.bind((self.host, self.port))
            bound.listen(128)
        except OSError as error:
            bound.close()
            raise UsageError(
                f"`{self.host}:{self.port}` cannot be listened on: {error.strerror or error}",
                code="usage.listen",
                hint="another program has it; choose another `--listen`, or port 0 for a free one",
            ) from error
        return bound

    def hosts(self, port: int) -> frozenset[str]:
        """What a `Host` field may say."""
        from faultwire.workbench.serve import names

        local = ["127.0.0.1", "localhost", "[::1]"] if is_loopback(self.host) else [_bracketed(self.host)]
        every = [*local, *map(_bracketed, names(self.certificate))]
        default = 443 if self.certificate else 80
        return frozenset([f"{name}:{port}" for name in every] + (every if port == default else []))


def serve(store: Store, listen: Listen, ready: Callable[[str], None]) -> int | None:
    """Serve until SIGINT or SIGTERM, which is returned; `ready` gets the address. Closes the store."""
    from faultwire.ingestion.app import Door, application
    from faultwire.workbench.http_server import HttpServer

    with closing(store), closing(listen.bind()) as bound:
        port = int(bound.getsockname()[1])
        door = Door(listen.hosts(port), listen.token, os.getuid())
        server = HttpServer(application(store, door), lambda: None, listen.certificate, listen.key)
        ready(f"{'https' if listen.certificate else 'http'}://{_bracketed(listen.host)}:{port}")
        server.run(sockets=[bound])
    return server.ended_by


def _token(path: Path) -> str:
    try:
        mode, found = path.stat().st_mode & 0o777, path.read_text().strip()
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"cannot read `--token-file {path}`: {error}", code="usage.token") from error
    if mode & 0o077:
        raise UsageError(
            f"`{path}` has mode {mode:03o}, expected 600", code="usage.token", hint=f"chmod 600 {path}"
        )
    if len(found) < SHORTEST_TOKEN or not found.isascii() or not found.isprintable() or " " in found:
        raise UsageError(
            f"`{path}` holds no token: expected {SHORTEST_TOKEN} or more printable characters",
            code="usage.token",
            hint="for example `openssl rand -hex 32 > FILE`",
        )
    return found


def _check(certificate: Path, key: Path) -> None:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    try:
        context.load_cert_chain(certificate, key, password="")
    except (OSError, ssl.SSLError) as error:
        raise UsageError(
            f"cannot use the certificate `{certificate}` with the key `{key}`: {error}", code="usage.tls"
        ) from error


def _bracketed(host: str) -> str:
    return f"[{host}]" if ":" in host else host
