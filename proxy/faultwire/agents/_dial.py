"""Sends requests to an agent and hears its answers, each on a connection of its own.

Nothing of it goes through a proxy: the way to the agent is no traffic of the agent's. One deadline holds
for all of a call, and `stop` ends every call that is under way.
"""

from __future__ import annotations

import http.client
import io
import select
import socket
import ssl
import threading
import zlib
from dataclasses import dataclass
from typing import IO, TYPE_CHECKING, Any

from faultwire import clock

if TYPE_CHECKING:
    from collections.abc import Sequence

    from faultwire.agents._request import Call
    from faultwire.events import Headers

KEPT = 1 << 20
"""Bytes of an answer that are kept."""
_PIECE = 1 << 16
_INTERIM = 16
"""Interim answers (1xx, RFC 9110 §15.2) before the real one."""


@dataclass(frozen=True, slots=True)
class HttpReply:
    """The response of the agent's server. `dropped` bytes of its body were not kept."""

    status: int
    reason: str
    headers: Headers
    body: bytes
    dropped: int = 0


class NoReply(Exception):
    """There was no whole answer, and why; `timed_out` where it did not come in time."""

    def __init__(self, why: str, *, timed_out: bool = False) -> None:
        super().__init__(why)
        self.why = why
        self.timed_out = timed_out


class Dialler:
    """Makes calls. Used from several threads."""

    def __init__(self) -> None:
        self._open: set[socket.socket] = set()
        self._lock = threading.Lock()
        self._stopped = threading.Event()
        self._contexts: list[ssl.SSLContext] = []

    def ask(
        self, call: Call, pieces: Sequence[bytes], *, timeout_s: float, pause_s: float = 0.0, kept: int = KEPT
    ) -> HttpReply:
        """Send the pieces with pauses between them, and wait for the answer. Raises Unheard.

        The pauses are ours and take nothing from the agent's time; they take as long as that at most.
        """
        waits = min(len(pieces) - 1, int(timeout_s / pause_s)) if pause_s else 0
        deadline = clock.monotonic() + timeout_s + waits * pause_s
        try:
            sock = self._connected(call, deadline)
        except (OSError, UnicodeError) as error:
            raise _no_reply(error, f"was not reached at `{call.host}:{call.port}`", timeout_s) from None
        try:
            self._send(sock, pieces, pause_s, waits, deadline)
            return _response(sock, call.method, deadline, kept)
        except (OSError, http.client.HTTPException, ValueError, EOFError, zlib.error) as error:
            if self._stopped.is_set():
                raise NoReply("was not recorded: the run ended first") from None
            raise _no_reply(error, "did not answer", timeout_s) from None
        finally:
            with self._lock:
                self._open.discard(sock)
            sock.close()

    def wait(self, seconds: float) -> None:
        """Let time pass, until `stop` at most."""
        self._stopped.wait(seconds)

    def stop(self) -> None:
        """End all calls that are under way, and each that comes later."""
        self._stopped.set()
        with self._lock:
            for sock in self._open:
                _shut(sock)

    def _connected(self, call: Call, deadline: float) -> socket.socket:
        plain = socket.create_connection((call.host, call.port), _left(deadline))
        plain.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        sock = plain
        if call.tls:
            plain.settimeout(_left(deadline))
            try:
                sock = self._context().wrap_socket(plain, server_hostname=call.host)
            except BaseException:
                plain.close()
                raise
        with self._lock:
            self._open.add(sock)
            if self._stopped.is_set():
                _shut(sock)
        return sock

    def _context(self) -> ssl.SSLContext:
        """Made once, when it is first needed: reading the roots takes its time."""
        with self._lock:
            if not self._contexts:
                self._contexts.append(ssl.create_default_context())
            return self._contexts[0]

    def _send(
        self, sock: socket.socket, pieces: Sequence[bytes], pause_s: float, waits: int, deadline: float
    ) -> None:
        for index, piece in enumerate(pieces):
            if 0 < index <= waits:
                self._stopped.wait(pause_s)
            view = memoryview(piece)
            while view:
                if _answers(sock):
                    return  # it does not want the rest; what it has to say is read now
                sock.settimeout(_left(deadline))
                try:
                    sent = sock.send(view[:_PIECE])
                except (BrokenPipeError, ConnectionResetError):
                    return
                view = view[sent:]


def _answers(sock: socket.socket) -> bool:
    """Has the server begun to answer, or closed, before the request is whole?"""
    if isinstance(sock, ssl.SSLSocket):  # TLS has messages of its own
        return False
    look = select.poll()
    look.register(sock, select.POLLIN)
    return bool(look.poll(0))


def _shut(sock: socket.socket) -> None:
    try:
        sock.shutdown(socket.SHUT_RDWR)
    except OSError:
        return  # the other end was faster


def _left(deadline: float) -> float:
    left = deadline - clock.monotonic()
    if left <= 0:
        raise TimeoutError
    return left


def _no_reply(error: Exception, what: str, timeout_s: float) -> NoReply:
    if isinstance(error, TimeoutError):
        return NoReply(f"{what} within {timeout_s:g} s", timed_out=True)
    if isinstance(error, http.client.IncompleteRead):
        return NoReply("ended early in its response")
    if isinstance(error, http.client.RemoteDisconnected):
        return NoReply("closed the connection without an answer")
    if isinstance(error, OSError):
        return NoReply(f"{what}: {error.strerror or type(error).__name__}")
    return NoReply(f"{what} in HTTP ({type(error).__name__})")


class _Source(io.RawIOBase):
    """A socket that is read until a deadline."""

    def __init__(self, sock: socket.socket, deadline: float) -> None:
        self._sock, self._deadline = sock, deadline

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any, /) -> int:
        self._sock.settimeout(_left(self._deadline))
        return self._sock.recv_into(buffer)


class _Readable:
    """What `http.client` asks of a socket."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file = file

    def makefile(self, _mode: str) -> IO[bytes]:
        return self._file


def _response(sock: socket.socket, method: str, deadline: float, kept: int) -> HttpReply:
    file: Any = io.BufferedReader(_Source(sock, deadline), _PIECE)
    source: Any = _Readable(file)
    response = http.client.HTTPResponse(source, method=method)
    response.begin()
    interim: list[http.client.HTTPResponse] = []  # one that nobody holds would close the file
    while 100 < response.status < 200 and response.status != 101 and len(interim) < _INTERIM:
        interim.append(response)
        response = http.client.HTTPResponse(source, method=method)
        response.begin()
    headers = tuple(response.getheaders())
    body, dropped = _body(response, kept)
    return HttpReply(response.status, response.reason, headers, _decoded(response, body, kept), dropped)


def _body(response: http.client.HTTPResponse, kept: int) -> tuple[bytes, int]:
    """The body up to a limit, and how much more there was."""
    parts: list[bytes] = []
    room, dropped = kept, 0
    while piece := response.read(_PIECE):
        parts.append(piece[:room])
        dropped += max(0, len(piece) - room)
        room -= len(parts[-1])
    if response.length:  # `read` with a size does not complain
        raise http.client.IncompleteRead(b"", response.length)
    return b"".join(parts), dropped


def _decoded(response: http.client.HTTPResponse, body: bytes, kept: int) -> bytes:
    """Unpacked, though it was asked not to be packed. Raises ValueError for other codings."""
    coding = (response.headers.get("content-encoding") or "identity").strip().lower()
    if coding in ("identity", "") or not body:
        return body
    if coding not in ("gzip", "x-gzip", "deflate"):
        raise ValueError(coding)
    return zlib.decompressobj(zlib.MAX_WBITS | 32).decompress(body, kept)
