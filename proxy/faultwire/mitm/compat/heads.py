"""Validation of every head and trailer, in either direction, before anything is made of it.

The rules are the core's (RFC 9110 §5, RFC 9112 §2 to §6, RFC 9113 §8.2 and §8.3). They hold whatever the
libraries under mitmproxy let pass: h2 before 4.3 hands on CR and LF in fields (CVE-2025-57804), and h11
before 0.16 takes any two bytes for the end of a chunk (CVE-2025-43859).
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import h11
from h11._readers import ChunkedReader
from h11._receivebuffer import ReceiveBuffer

from faultwire import _core

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mitmproxy import http

    Fields = Sequence[tuple[bytes, bytes]]

HEAD_LIMIT = 64 * 1024
"""Bytes of a head, of trailers, and of the line before a chunk; mitmproxy keeps any amount of each."""
_END = re.compile(rb"\n\r?\n")
_CRLF = b"\r\n"


class HeadBuffer(ReceiveBuffer):
    """h11's buffer, whose next head can be looked at as it came. How far it was searched is noted where h11
    notes it for its own search for the same end: it begins anew with whatever is taken out."""

    _multiple_lines_search: int

    def head(self) -> bytes | None:
        """The head in front, with its empty line, once it is whole; empty lines before it are dropped."""
        while self._data[:2] == _CRLF:
            self._extract(2)
        found = _END.search(self._data, self._multiple_lines_search)
        if found is None:
            self._multiple_lines_search = max(0, len(self._data) - 2)
            return None
        return bytes(self._data[: found.end()])

    def maybe_extract_lines(self) -> list[bytearray] | None:
        """As h11 has it, but for a line feed in front: it is no empty line, and stays for `head` to find."""
        found: list[bytearray] | None = None if self._data[:1] == b"\n" else super().maybe_extract_lines()
        return found


class StrictChunkedReader(ChunkedReader):
    """h11's reader of chunked bodies, which takes nothing but CRLF for the end of a chunk (RFC 9112 §7.1)."""

    def read(self, buf: Any, parts: list[bytes]) -> h11.EndOfMessage | None:
        """All that is in the buffer: adds the data of chunks to `parts`, and gives the end where it has come.
        Raises ProtocolError at what no body holds, behind what came before it."""
        following = super().__call__
        while True:
            owed: Any = self._bytes_to_discard
            if isinstance(owed, int) and owed:
                found = bytes(buf._data[:owed])
                if found != _CRLF[2 - owed :][: len(found)]:
                    raise h11.RemoteProtocolError("a chunk does not end with CRLF")
            event: Any = following(buf)
            if not isinstance(event, h11.Data):
                ended: h11.EndOfMessage | None = event
                return ended
            if event.data:
                parts.append(event.data)


def request_flaw(head: bytes | Fields) -> str | None:
    """What is wrong with a request head: the bytes of HTTP/1, or the fields of HTTP/2."""
    if isinstance(head, bytes):
        return _core.http1_request_flaw(head)
    return _core.http2_request_flaw(head)


def response_flaw(head: bytes | Fields) -> str | None:
    """The same for a response head."""
    if isinstance(head, bytes):
        return _core.http1_response_flaw(head)
    return _core.http2_response_flaw(head)


def trailers_flaw(trailers: http.Headers | Fields, *, http2: bool) -> str | None:
    """The same for trailers."""
    fields = trailers if isinstance(trailers, list | tuple) else trailers.fields  # type: ignore[union-attr]
    return _core.trailers_flaw(fields, http2=http2)
