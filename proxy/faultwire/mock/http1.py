"""The little of HTTP/1.1 that a server for SDKs needs (RFC 9112), without a socket.

Own code instead of a library, because every benchmark and test goes through it: a request costs a
few microseconds here.
"""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from faultwire.events import Request, header
from faultwire.wire.editing.answers import reason

if TYPE_CHECKING:
    from faultwire.events import Headers
    from faultwire.mock._api import Answer

MAX_HEAD = 64 << 10
MAX_BODY = 64 << 20
_END = b"\r\n\r\n"


class BadRequest(Exception):
    """What came is no HTTP that can be answered; the connection ends after this status."""

    def __init__(self, status: int, why: str) -> None:
        super().__init__(why)
        self.status = status


class Requests:
    """Cuts a connection's bytes into requests. `wants_continue` tells that a client waits for 100."""

    def __init__(self, scheme: str = "http") -> None:
        self.wants_continue = False
        self._scheme = scheme
        self._buffer = bytearray()
        self._head: Request | None = None
        self._chunks: _Chunks | None = None
        self._length = 0

    def feed(self, data: bytes) -> None:
        """Take bytes as they come."""
        self._buffer += data

    def next(self) -> Request | None:
        """The next whole request, None where more bytes are needed. Raises BadRequest."""
        if self._head is None and not self._begin():
            return None
        head, body = self._head, self._body()
        if head is None or body is None:
            return None
        self._head = None
        self.wants_continue = False
        return Request(head.method, head.scheme, head.host, head.port, head.path, head.headers, body)

    def rest(self) -> bytes:
        """What has come after the last request; from here on something else is spoken."""
        data = bytes(self._buffer)
        self._buffer.clear()
        return data

    def _begin(self) -> bool:
        while self._buffer[:2] == b"\r\n":  # RFC 9112 §2.2: an empty line before a request
            del self._buffer[:2]
        end = self._buffer.find(_END)
        if end < 0 or end > MAX_HEAD:
            if len(self._buffer) > MAX_HEAD:
                raise BadRequest(431, f"the head is longer than {MAX_HEAD} bytes")
            return False
        head = _head(bytes(self._buffer[:end]), self._scheme)
        del self._buffer[: end + len(_END)]
        coding = header(head.headers, "transfer-encoding")
        if coding is not None and coding.lower() != "chunked":
            raise BadRequest(501, f"transfer coding `{coding}` is not known here")
        self._chunks = _Chunks() if coding is not None else None
        self._length = _length(header(head.headers, "content-length", "0") or "0")
        self._head = head
        self.wants_continue = (header(head.headers, "expect") or "").lower() == "100-continue"
        return True

    def _body(self) -> bytes | None:
        if self._chunks is not None:
            return self._chunks.take(self._buffer)
        if len(self._buffer) < self._length:
            return None
        body = bytes(self._buffer[: self._length])
        del self._buffer[: self._length]
        return body


class _Chunks:
    """A body in the chunked coding (RFC 9112 §7.1)."""

    def __init__(self) -> None:
        self._parts = bytearray()
        self._last = False

    def take(self, buffer: bytearray) -> bytes | None:
        while not self._last:
            line = buffer.find(b"\r\n")
            if line < 0:
                return None
            size = _hex(bytes(buffer[:line]))
            if len(self._parts) + size > MAX_BODY:
                raise BadRequest(413, f"the body is longer than {MAX_BODY} bytes")
            if size and len(buffer) < line + 4 + size:
                return None
            self._parts += buffer[line + 2 : line + 2 + size]
            self._last = size == 0
            del buffer[: line + 2 + (size + 2 if size else 0)]
        while True:  # trailer fields, up to an empty line
            line = buffer.find(b"\r\n")
            if line < 0:
                return None
            del buffer[: line + 2]
            if line == 0:
                return bytes(self._parts)


def _head(text: bytes, scheme: str) -> Request:
    first, *rest = text.decode("latin-1").split("\r\n")
    words = first.split(" ")
    if len(words) != 3 or words[2] not in ("HTTP/1.1", "HTTP/1.0"):
        raise BadRequest(400, "the first line is no request line")
    headers = []
    for line in rest:
        name, colon, value = line.partition(":")
        if not colon or not name or name != name.strip():
            raise BadRequest(400, "a header field is malformed")
        headers.append((name, value.strip(" \t")))
    if words[2] == "HTTP/1.0":
        headers.append(("connection", "close"))
    target = words[1]
    if "://" in target.partition("?")[0]:  # absolute form, as a proxy would be asked
        parts = urlsplit(target)
        target = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
    host = (header(tuple(headers), "host") or "localhost").rpartition("@")[2]
    name = host.rpartition(":")[0] if host[-1:].isdigit() and ":" in host and host[-1] != "]" else host
    return Request(words[0], scheme, name.strip("[]"), 0, target, tuple(headers))


def _length(text: str) -> int:
    if not (text.isascii() and text.isdigit()):
        raise BadRequest(400, "`content-length` is no number")
    if len(text) > 12 or int(text) > MAX_BODY:
        raise BadRequest(413, f"the body is longer than {MAX_BODY} bytes")
    return int(text)


def _hex(line: bytes) -> int:
    digits = line.partition(b";")[0].strip()
    if not digits or len(digits) > 12 or digits.strip(b"0123456789abcdefABCDEF"):
        raise BadRequest(400, "a chunk's size is no hexadecimal number")
    return int(digits, 16)


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
