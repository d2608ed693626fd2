"""Requests of HTTP/1.1 from bytes, and answers to bytes, without a socket (RFC 9112).

Requests are parsed by h11. Answers are written here, because the mock decides their bytes: a body may end
early, a connection may be reset after any chunk, each event is one chunk, and a WebSocket may follow.
h11 keeps account of what a server sends, and refuses what a sound one would not send.
"""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import h11

from faultwire.events import Request, header
from faultwire.wire.editing.answers import reason

if TYPE_CHECKING:
    from faultwire.events import Headers
    from faultwire.mock._api import Answer

MAX_HEAD = 64 << 10
MAX_BODY = 64 << 20
_VERSIONS = (b"1.0", b"1.1")


class BadRequest(Exception):
    """The bytes are no HTTP request that can be answered; the connection ends after this status."""

    def __init__(self, status: int, why: str) -> None:
        super().__init__(why)
        self.status = status


class Requests:
    """Splits a connection's bytes into requests. `wants_continue` is set while a client waits for 100.

    Each request has an h11 connection of its own: h11 reads the next request only after it has sent an
    answer, and it does not see the answers that are written here.
    """

    def __init__(self, scheme: str = "http") -> None:
        self.wants_continue = False
        self._scheme = scheme
        self._before = bytearray()
        """What came before the first line of a request."""
        self._parser: h11.Connection | None = None
        self._head: Request | None = None
        self._body = bytearray()

    def feed(self, data: bytes) -> None:
        """Take bytes as they come."""
        if self._parser is None:
            self._before += data
        else:
            self._parser.receive_data(data)

    def next(self) -> Request | None:
        """The next whole request, None where more bytes are needed. Raises BadRequest."""
        if self._parser is None and not self._begin():
            return None
        try:
            return self._read()
        except h11.RemoteProtocolError as error:
            raise _refused(error) from None
        except ValueError:  # h11 0.14 makes a number of any length, Python of at most 4,300 digits
            raise _too_long() from None

    def rest(self) -> bytes:
        """The bytes after the last request; from here on another protocol is spoken."""
        data = bytes(self._before)
        self._before.clear()
        return data

    def _begin(self) -> bool:
        """Hand what came to a new parser; False where nothing of a request is there."""
        while self._before[:2] == b"\r\n":  # RFC 9112 §2.2: an empty line before a request; h11 refuses it
            del self._before[:2]
        if bytes(self._before) in (b"", b"\r"):
            return False
        self._parser = h11.Connection(h11.SERVER, max_incomplete_event_size=MAX_HEAD)
        self._parser.receive_data(self.rest())
        return True

    def _read(self) -> Request | None:
        assert self._parser is not None
        while True:
            match self._parser.next_event():
                case h11.Request() as asked:
                    self._head = _head(asked, self._scheme)
                    self.wants_continue = self._parser.they_are_waiting_for_100_continue
                case h11.Data(data=data):
                    if len(self._body) + len(data) > MAX_BODY:
                        raise _too_long()
                    self._body += data
                case h11.EndOfMessage():
                    return self._end(self._parser)
                case _:
                    return None

    def _end(self, parser: h11.Connection) -> Request | None:
        head, body = self._head, bytes(self._body)
        self._before += parser.trailing_data[0]
        self._parser, self._head = None, None
        self._body.clear()
        self.wants_continue = False
        if head is None:
            return None
        return Request(head.method, head.scheme, head.host, head.port, head.path, head.headers, body)


def _head(asked: h11.Request, scheme: str) -> Request:
    if asked.http_version not in _VERSIONS:
        raise BadRequest(400, "found a version of HTTP other than 1.0 and 1.1")
    fields = asked.headers.raw_items()
    # h11 bounds a head that is not complete; one that came at once may be longer.
    if len(asked.target) + sum(len(name) + len(value) + 4 for name, value in fields) > MAX_HEAD:
        raise BadRequest(431, f"the head is longer than {MAX_HEAD} bytes")
    headers = [(name.decode("latin-1"), value.decode("latin-1")) for name, value in fields]
    if int(header(tuple(headers), "content-length", "0") or "0") > MAX_BODY:
        raise _too_long()
    if asked.http_version == b"1.0":
        headers.append(("connection", "close"))
    target = asked.target.decode("latin-1")
    if "://" in target.partition("?")[0]:  # absolute form, as a proxy would be asked
        try:
            parts = urlsplit(target)
        except ValueError:
            raise BadRequest(400, "found a target that is no URL") from None
        target = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
    host = (header(tuple(headers), "host") or "localhost").rpartition("@")[2]
    name = host.rpartition(":")[0] if host[-1:].isdigit() and ":" in host and host[-1] != "]" else host
    return Request(asked.method.decode("latin-1"), scheme, name.strip("[]"), 0, target, tuple(headers))


def _refused(error: h11.RemoteProtocolError) -> BadRequest:
    status = error.error_status_hint
    if status == 431:
        return BadRequest(431, f"the head is longer than {MAX_HEAD} bytes")
    # What h11 found stands behind `: b`, and may be a secret.
    return BadRequest(status, f"found no HTTP/1.1 request: {str(error).partition(': b')[0]}")


def _too_long() -> BadRequest:
    return BadRequest(413, f"the body is longer than {MAX_BODY} bytes")


# ---------------------------------------------------------------- answers


def closes(request: Request) -> bool:
    """Does the client want the connection closed after the answer?"""
    return "close" in (header(request.headers, "connection") or "").lower()


def whole(answer: Answer, *, close: bool = False) -> bytes:
    """An answer with a body."""
    length = ("content-length", str(len(answer.body)))
    return _answer_head(answer, (length,), close) + answer.body


def opening(answer: Answer, *, close: bool = False) -> bytes:
    """The head of an answer that comes in chunks."""
    return _answer_head(answer, (("transfer-encoding", "chunked"),), close)


def switching(answer: Answer) -> bytes:
    """The head of an answer 101, which has no body (RFC 9110 §15.2.2)."""
    return _answer_head(answer, (), close=False)


def chunk(data: bytes) -> bytes:
    """One chunk; of no bytes it is the last one."""
    return b"%x\r\n%b\r\n" % (len(data), data)


def _answer_head(answer: Answer, more: Headers, close: bool) -> bytes:
    fields = (*answer.headers, *more, *((("connection", "close"),) if close else ()))
    lines = "".join(f"{name}: {value}\r\n" for name, value in fields)
    return f"HTTP/1.1 {answer.status} {reason(answer.status)}\r\n{lines}\r\n".encode("latin-1", "replace")
