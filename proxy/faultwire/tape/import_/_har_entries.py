"""The entries of a HAR, one at a time: a document of small values takes many times its size once parsed."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from faultwire.errors import TapeError

if TYPE_CHECKING:
    from collections.abc import Iterator

MAX_ENTRY = 64 << 20
_TOKEN = re.compile(rb'"[^"\\]*(?:\\.[^"\\]*)*"|[\[\]{}]', re.DOTALL)
_LOG = re.compile(rb'\s*\{\s*"log"\s*:\s*\{')
_VERSION = re.compile(rb'\s*:\s*"?([0-9A-Za-z.]{0,20})')
_LIST = re.compile(rb"\s*:\s*\[")
_BLANK = b" \t\r\n,"


class Entries:
    """The texts of the entries in the order of the file; `version` is that of the log, where it stated one
    before its entries."""

    def __init__(self, data: bytes) -> None:
        self.version = "1.2"
        self._data = data

    def __iter__(self) -> Iterator[bytes]:
        """Raises TapeError where the file is no HAR, and where it ends before its entries do."""
        yield from self._members(self._start())

    def _start(self) -> int:
        """Where the list of entries begins: a member of `log`, at whatever place among the others."""
        head = _LOG.match(self._data)
        depth = 1
        for token in _TOKEN.finditer(self._data, head.end()) if head else ():
            text = token[0] if len(token[0]) <= 20 else b""
            if text in (b"{", b"["):
                depth += 1
            elif text in (b"}", b"]"):
                depth -= 1
                if depth == 0:
                    break
            elif depth == 1 and text == b'"version"':
                version = _VERSION.match(self._data, token.end())
                self.version = version[1].decode() if version else ""
            elif depth == 1 and text == b'"entries"':
                found = _LIST.match(self._data, token.end())
                if found:
                    return found.end()
        raise TapeError("it is no HAR: found no `log` with `entries`", code="tape.import_unreadable")

    def _members(self, start: int) -> Iterator[bytes]:
        """What stands between brackets; what stands between that and is no blank is a member as well."""
        depth, begin = 0, start
        for token in _TOKEN.finditer(self._data, start):
            text = token[0]
            if text in (b"{", b"["):
                if depth == 0:
                    yield from self._between(begin, token.start())
                    begin = token.start()
                depth += 1
            elif text in (b"}", b"]"):
                depth -= 1
                if depth < 0:
                    yield from self._between(begin, token.start())
                    return
                if depth == 0:
                    yield self._data[begin : token.end()] if token.end() - begin <= MAX_ENTRY else b""
                    begin = token.end()
        raise TapeError("it is no HAR that is whole: its entries do not end", code="tape.import_unreadable")

    def _between(self, begin: int, end: int) -> Iterator[bytes]:
        rest = self._data[begin : min(end, begin + 1000)].strip(_BLANK)
        if rest:
            yield rest
