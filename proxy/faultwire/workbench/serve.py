"""The workbench as a program: where it listens, with which certificate, and until when."""

from __future__ import annotations

import fcntl
import os
import socket
import ssl
import threading
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from faultwire.dice import token
from faultwire.errors import UsageError
from faultwire.mitm.sessions.access import is_loopback
from faultwire.workbench.access import Access

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from faultwire.workbench.http_server import HttpServer
    from faultwire.workbench.subject import Subject

REGISTER = "workbench"
"""A folder with a file for each port that a workbench of the project listens on, which holds it."""


@dataclass(frozen=True, slots=True)
class Listen:
    """Where to listen. Another address than loopback needs a certificate and its key (PEM)."""

    host: str = "127.0.0.1"
    port: int = 0
    certificate: Path | None = None
    key: Path | None = None

    @property
    def tls(self) -> bool:
        """Is it served by TLS?"""
        return self.certificate is not None


@dataclass(frozen=True, slots=True)
class Served:
    """A workbench that listens: the link to open, once, and what programs send as a bearer token."""

    port: int
    url: str
    link: str
    program: str | None


def check(listen: Listen) -> None:
    """Raise UsageError where others could read along, or where the certificate cannot be used."""
    if (listen.certificate is None) != (listen.key is None):
        raise UsageError(
            "found one of `--ui-cert` and `--ui-key`, expected both or none", code="usage.ui_tls"
        )
    if not is_loopback(listen.host) and not listen.tls:
        raise UsageError(
            f"found `--ui-listen` with `{listen.host}`, which others can reach, expected TLS with it",
            code="usage.ui_listen",
            hint="add `--ui-cert FILE --ui-key FILE`, or listen on 127.0.0.1 and forward the port by SSH",
        )
    if listen.certificate is not None and listen.key is not None:
        _context(listen.certificate, listen.key)


def _context(certificate: Path, key: Path) -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    try:
        context.load_cert_chain(certificate, key, password="")
    except (OSError, ssl.SSLError) as error:
        raise UsageError(
            f"cannot use the certificate `{certificate}` with the key `{key}`: {error}", code="usage.ui_tls"
        ) from error
    return context


def names(certificate: Path | None) -> list[str]:
    """The host names and addresses that a certificate is for, in lower case."""
    if certificate is None:
        return []
    from cryptography import x509

    try:
        found = x509.load_pem_x509_certificate(certificate.read_bytes())
        alternative = found.extensions.get_extension_for_class(x509.SubjectAlternativeName).value
    except (ValueError, x509.ExtensionNotFound):
        return []
    hosts = [str(name) for name in alternative.get_values_for_type(x509.DNSName)]
    addresses = [str(address) for address in alternative.get_values_for_type(x509.IPAddress)]
    return [name.lower() for name in (*hosts, *addresses)]


def hosts(listen: Listen, port: int) -> frozenset[str]:
    """What a `Host` header may say."""
    local = ["127.0.0.1", "localhost", "[::1]"] if is_loopback(listen.host) else [_bracketed(listen.host)]
    every = [*local, *map(_bracketed, names(listen.certificate))]
    return frozenset(f"{name}:{port}" for name in every)


def _bracketed(host: str) -> str:
    return f"[{host}]" if ":" in host else host


def bind(listen: Listen) -> socket.socket:
    """The socket. Raises UsageError where the port is taken."""
    family = socket.AF_INET6 if ":" in listen.host else socket.AF_INET
    bound = socket.socket(family, socket.SOCK_STREAM)
    try:
        bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        bound.bind((listen.host, listen.port))
        bound.listen(128)
    except OSError as error:
        bound.close()
        raise UsageError(
            f"`{listen.host}:{listen.port}` cannot be listened on: {error.strerror or error}",
            code="ui.port",
            hint="another program has it; choose another `--ui-listen`, or port 0 for a free one",
        ) from error
    return bound


@contextmanager
def registered(base: Path, port: int) -> Iterator[None]:
    """The port in the project's register, for as long as it is listened on: an engine never goes there."""
    folder = base / REGISTER
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    path = folder / str(port)
    fd = os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(fd, fcntl.LOCK_EX)
        yield
    finally:
        path.unlink(missing_ok=True)
        os.close(fd)


def serve(
    subject: Subject,
    listen: Listen,
    ready: Callable[[Served], None],
    *,
    base: Path,
    programs: bool | str = False,
    watch: int | None = None,
    otel: str | None = None,
) -> int | None:
    """Serve until SIGINT or SIGTERM, which is returned, or until the descriptor `watch` reaches its end. With
    `programs` a bearer token is made, or is this one, that may be used again and again. Spans go to `otel`.

    Raises UsageError.
    """
    from faultwire.workbench.app import application
    from faultwire.workbench.http_server import HttpServer

    check(listen)
    with ExitStack() as stack:
        bound = stack.enter_context(bind(listen))
        port = int(bound.getsockname()[1])
        stack.enter_context(registered(base, port))
        access = Access(hosts(listen, port), port, listen.tls, program=_program(programs))
        stack.callback(subject.index.close)
        if otel is not None:
            from faultwire.workbench.live_spans import LiveSpans

            live = LiveSpans(subject.path, otel, subject.metrics.spans)
            subject.index.sinks.append(live.take)
            live.start()
            stack.callback(live.close)
        subject.index.start()
        if subject.controls is not None:
            subject.controls.listener = subject.index.tell
            subject.controls.start()
            stack.callback(subject.controls.close)
        server = HttpServer(
            application(subject, access, base), subject.index.leave, listen.certificate, listen.key
        )
        if watch is not None:
            threading.Thread(target=_until_closed, args=(watch, server), daemon=True).start()
        ready(_served(listen, port, access))
        server.run(sockets=[bound])
        return server.ended_by


def _program(programs: bool | str) -> str | None:
    if isinstance(programs, str):
        return programs
    return token(32) if programs else None


def _served(listen: Listen, port: int, access: Access) -> Served:
    name = next(iter(names(listen.certificate)), listen.host)
    url = f"{'https' if listen.tls else 'http'}://{_bracketed(name)}:{port}/"
    return Served(port, url, f"{url}#token={access.link}", access.program)


def _until_closed(fd: int, server: HttpServer) -> None:
    while os.read(fd, 4096):
        pass
    server.should_exit = True
