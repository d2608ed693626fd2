"""One body on its way to the tape: gathered, looked through, released piece by piece.

Documents (JSON, forms, anything packed) are looked through whole. Of a stream everything is released
up to the last place where no secret can be in the middle of coming; pieces of event
streams end where events end.
"""

from __future__ import annotations

from itertools import accumulate
from typing import TYPE_CHECKING

from faultwire.tape import redact_codec, redact_stream, redact_text
from faultwire.tape.redact import moved

if TYPE_CHECKING:
    from collections.abc import Sequence

    from faultwire.tape.head import Head
    from faultwire.tape.recording import Mark
    from faultwire.tape.records import Chunks
    from faultwire.tape.redact import Redactor
    from faultwire.tape.redact_text import Edit

MAX_HELD = 16 * 1024 * 1024
"""A document that grows past this is treated as a stream of bytes; a packed one is not stored."""

MAX_EVENT = 1024 * 1024
"""A stream that goes on for longer without an end of an event is treated as a stream of bytes."""


class Body:
    """Gathers chunks and releases what is safe to store. `counts` gathers redactions by class."""

    def __init__(self, redactor: Redactor, head: Head, counts: dict[str, int]) -> None:
        kind = head.kind
        self._codings = head.codings
        self._redactor = redactor
        self._counts = counts
        self._events = "event-stream" in kind or "ndjson" in kind or "jsonl" in kind
        self._form = "x-www-form-urlencoded" in kind
        self._whole = bool(self._codings) or self._form or (not self._events and "json" in kind)
        self._said: dict[str, str] = {}
        self._kept: list[bytes] = []
        self._size = 0
        self._ends: Chunks = []
        """(end, instant) of chunks, counted from the first byte that is kept."""
        self._owed = 0
        """Redacted bytes that were released of a chunk whose end was not."""

    def add(self, marks: Sequence[Mark]) -> int:
        """More chunks, as (instant, bytes); their size."""
        before = self._size
        instants, parts = zip(*marks, strict=True)
        ends = list(accumulate(map(len, parts), initial=before))
        self._kept += parts
        self._ends += zip(ends[1:], instants, strict=True)
        self._size = ends[-1]
        return self._size - before

    def release(self, *, final: bool) -> tuple[bytes, Chunks]:
        """The redacted bytes that may be stored now, and the (size, instant) of chunks that end in them.

        A chunk may have begun in an earlier piece; only over a whole body do sizes add up.
        """
        if not self._ends or (not final and self._must_wait()):
            return b"", []
        data = self._kept[0] if len(self._kept) == 1 else b"".join(self._kept)
        if self._codings:
            return self._packed(data)
        text = data.decode("latin-1")
        edits = self._edits(text)
        size = len(data)
        if not final:
            size = self._safe(text, edits)
            edits = [edit for edit in edits if edit.end <= size]
        ends = [end for end in self._ends if end[0] <= size]
        self._keep(data[size:], [(end - size, at_ns) for end, at_ns in self._ends[len(ends) :]])
        if size < len(data):
            data = data[:size]
        if not edits:
            return data, self._chunks(ends, len(data))
        out, moves = self._redactor.apply(data, edits, self._counts)
        places = moved((end for end, _ in ends), moves)
        return out, self._chunks(
            [(place, at_ns) for place, (_, at_ns) in zip(places, ends, strict=True)], len(out)
        )

    def _must_wait(self) -> bool:
        if self._size > MAX_HELD and not self._codings:
            self._whole = False
        return self._whole

    def _keep(self, data: bytes, ends: Chunks) -> None:
        self._kept = [data] if data else []
        self._size = len(data)
        self._ends = ends

    def _chunks(self, ends: Chunks, size: int) -> Chunks:
        """Sizes from ends; `size` bytes are released with them."""
        starts = [-self._owed, *(end for end, _ in ends)]
        self._owed = size - starts[-1]
        return [(end - start, at_ns) for start, (end, at_ns) in zip(starts, ends, strict=False)]

    # ------------------------------------------------------------ looking

    def _edits(self, text: str) -> list[Edit]:
        if self._events:
            self._said = redact_stream.said_texts(text)
            if redact_stream.is_suspect(text, self._said):
                return redact_stream.stream_edits(text)
            return []
        found = redact_text.edits(text) if redact_text.suspects(text) else []
        if self._form:
            found = redact_text.merged(found + redact_text.form_edits(text))
        return found

    def _safe(self, text: str, edits: list[Edit]) -> int:
        """How many bytes nothing yet to come can turn into a part of a secret."""
        if self._events:
            size = _whole_events(text[: redact_stream.open_from(text, self._said)])
            if len(text) > MAX_EVENT and size == 0:
                self._events = False
        else:
            size = len(text) - redact_stream.open_tail(text)
        while inside := [edit.start for edit in edits if edit.start < size < edit.end]:
            size = _whole_events(text[: min(inside)]) if self._events else min(inside)
        return size

    def _packed(self, data: bytes) -> tuple[bytes, Chunks]:
        """A body under a content coding: looked through unpacked, packed again only if changed."""
        out = self._repacked(data)
        ends = [(end * len(out) // max(len(data), 1), at_ns) for end, at_ns in self._ends]
        self._keep(b"", [])
        return out, self._chunks(ends, len(out))

    def _repacked(self, data: bytes) -> bytes:
        try:
            if self._size > MAX_HELD:
                raise redact_codec.Opaque("too large")
            plain = redact_codec.unpack(data, self._codings)
        except redact_codec.Opaque:
            return self._redactor.placeholder("opaque", data.decode("latin-1"), self._counts).encode()
        edits = self._edits(plain.decode("latin-1"))
        if not edits:
            return data
        clean, _ = self._redactor.apply(plain, edits, self._counts)
        return redact_codec.pack(clean, self._codings)


def _whole_events(text: str) -> int:
    """Where the last whole event ends; lines of JSON end in one line break, server-sent events in two."""
    if text.lstrip("\r\n")[:1] in "{[":
        return text.rfind("\n") + 1
    ends = (text.rfind(mark) + len(mark) for mark in ("\n\n", "\r\n\r\n", "\r\r") if mark in text)
    return max(ends, default=0)
