"""One body on its way to the tape: gathered, looked through, released piece by piece.

Documents (JSON, forms, anything packed) are looked through whole. Of a stream everything is released
up to the last place where no secret can be in the middle of coming; pieces of event
streams end where events end. What cannot be looked into is not kept, only counted.
"""

from __future__ import annotations

import hashlib
from bisect import bisect_right
from itertools import accumulate
from typing import TYPE_CHECKING

from faultwire.tape.redact import (
    content_coding as redact_content_coding,
    eventstream as redact_eventstream,
    stream as redact_stream,
    text as redact_text,
)
from faultwire.tape.redact.edit import merged
from faultwire.tape.redact.redactor import moved
from faultwire.tape.redact.url import form_edits
from faultwire.tape.redact.user_matches import rule_edits

if TYPE_CHECKING:
    from collections.abc import Sequence

    from faultwire.tape.format.events import Chunks
    from faultwire.tape.record.recorder import Mark
    from faultwire.tape.redact.edit import Edit
    from faultwire.tape.redact.headers import Head
    from faultwire.tape.redact.redactor import Redactor

MAX_HELD = 16 * 1024 * 1024
"""A document that grows past this is treated as a stream of bytes; a packed one is not stored."""

MAX_PIECE = 64 * 1024 * 1024
"""A longer piece is stored as several; well below what a reader takes for one."""

_JSON = "application/json"

MAX_EVENT = 1024 * 1024
"""A stream that goes on for longer without an end of an event is treated as a stream of bytes."""


class Body:
    """Gathers chunks and releases what is safe to store. `counts` gathers redactions by class."""

    def __init__(self, redactor: Redactor, head: Head, counts: dict[str, int]) -> None:
        kind = head.kind
        self._codings = head.codings
        self._redactor = redactor
        self._counts = counts
        self._frames = redact_eventstream.KIND in kind
        self._events = "event-stream" in kind or "ndjson" in kind or "jsonl" in kind
        self._form = "x-www-form-urlencoded" in kind
        self._rules = redactor.rules
        self._whole = bool(self._codings) or self._form or (not self._events and "json" in kind)
        self._texts: dict[str, str] = {}
        self._started = False
        self._kept: list[bytes] = []
        self._size = 0
        self._ends: Chunks = []
        """(end, instant) of chunks, counted from the first byte that is kept."""
        self._owed = 0
        """Redacted bytes that were released of a chunk whose end was not."""
        self._lost = hashlib.sha256()
        self._lost_ns: int | None = None
        self.dropped = 0
        """Bytes that came and were not kept, since nobody can look into them."""

    def add(self, marks: Sequence[Mark]) -> int:
        """More chunks, as (instant, bytes); their size."""
        if self._lost_ns is not None:
            return sum(self._lose(data, at_ns) for at_ns, data in marks)
        before = self._size
        instants, parts = zip(*marks, strict=True)
        ends = list(accumulate(map(len, parts), initial=before))
        self._kept += parts
        self._ends += zip(ends[1:], instants, strict=True)
        self._size = ends[-1]
        if self._codings and self._size > MAX_HELD:
            self._give_up()
        return ends[-1] - before

    def pieces(self, *, final: bool) -> list[tuple[bytes, Chunks]]:
        """What `release` gives, in pieces that are not too long to be stored as one."""
        owed = self._owed
        data, chunks = self.release(final=final)
        if len(data) <= MAX_PIECE:
            return [(data, chunks)] if data or chunks else []
        ends = [end - owed for end in accumulate(size for size, _ in chunks)]
        cut: list[tuple[bytes, Chunks]] = []
        done = 0
        for start in range(0, len(data), MAX_PIECE):
            till = bisect_right(ends, start + MAX_PIECE)
            cut.append((data[start : start + MAX_PIECE], chunks[done:till]))
            done = till
        return cut

    def release(self, *, final: bool) -> tuple[bytes, Chunks]:
        """The redacted bytes that may be stored now, and the (size, instant) of chunks that end in them.

        A chunk may have begun in an earlier piece; only over a whole body do sizes add up.
        """
        if self._lost_ns is not None:
            return self._lost_placeholder() if final else (b"", [])
        if not self._ends or (not final and self._must_wait()):
            return b"", []
        data = self._kept[0] if len(self._kept) == 1 else b"".join(self._kept)
        if self._codings:
            return self._packed(data)
        if self._frames:
            return self._framed(data, final=final)
        text = data.decode("latin-1")
        edits = self._edits(text, final=final)
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
            if self._by_path():
                # A path is only found in a whole document, and this one is too long to be held.
                self._give_up()
                return True
            self._whole = False
        return self._whole or (not self._started and self._by_path())

    def _by_path(self) -> bool:
        """Is this a document that rules have paths into, whatever its media type is?"""
        if self._rules is None or not self._rules.paths or self._events or self._frames:
            return False
        first = next((part for part in self._kept if part), b"").lstrip(b"\xef\xbb\xbf \t\r\n")[:1]
        return first in (b"{", b"[")

    def _keep(self, data: bytes, ends: Chunks) -> None:
        self._kept = [data] if data else []
        self._size = len(data)
        self._ends = ends

    def _chunks(self, ends: Chunks, size: int) -> Chunks:
        """Sizes from ends; `size` bytes are released with them."""
        starts = [-self._owed, *(end for end, _ in ends)]
        self._owed = size - starts[-1]
        return [(end - start, at_ns) for start, (end, at_ns) in zip(starts, ends, strict=False)]

    # ------------------------------------------------------------ giving up

    def _give_up(self) -> None:
        """Keep nothing of what is there and of what still comes, but its size and a digest."""
        start = 0
        data = b"".join(self._kept)
        for end, at_ns in self._ends:
            self._lose(data[start:end], at_ns)
            start = end
        self._keep(b"", [])

    def _lose(self, data: bytes, at_ns: int) -> int:
        self._lost.update(data)
        self._lost_ns = at_ns
        self.dropped += len(data)
        return len(data)

    def _lost_placeholder(self) -> tuple[bytes, Chunks]:
        """The placeholder for all that was lost, once."""
        out = self._redactor.placeholder("opaque", self._lost.hexdigest(), self._counts).encode()
        at_ns, self._lost_ns = self._lost_ns or 0, None
        return out, self._chunks([(len(out), at_ns)], len(out))

    # ------------------------------------------------------------ looking

    def _edits(self, text: str, *, final: bool) -> list[Edit]:
        if self._events:
            if final:
                return redact_stream.last_edits(text, self._rules)
            self._texts = redact_stream.texts_by_member(text)
            if redact_stream.is_suspect(text, self._texts, self._rules):
                return redact_stream.stream_edits(text, self._rules)
            return []
        if final:
            found = redact_stream.whole_edits(text, self._rules)
        else:
            found = redact_text.edits(text) if redact_text.suspects(text) else []
            if self._rules is not None:
                found = merged(found + rule_edits(text, self._rules))
        if self._form:
            found = merged(found + form_edits(text))
        return found

    def _safe(self, text: str, edits: list[Edit]) -> int:
        """How many bytes nothing yet to come can turn into a part of a secret."""
        if self._events:
            size = _whole_events(text[: redact_stream.open_from(text, self._texts, self._rules)])
            if len(text) > MAX_EVENT and size == 0:
                self._events = False
        else:
            size = len(text) - redact_stream.open_tail(text, self._rules)
        while inside := [edit.begin for edit in edits if edit.begin < size < edit.end]:
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
            plain = redact_content_coding.unpack(data, self._codings)
            clean = self._cleaned(plain)
        except redact_content_coding.Opaque:
            return self._redactor.placeholder("opaque", data.decode("latin-1"), self._counts).encode()
        return data if clean == plain else redact_content_coding.pack(clean, self._codings)

    def _cleaned(self, plain: bytes) -> bytes:
        """A whole body without its secrets. Raises Opaque."""
        if not self._is_framed(plain):
            return self._redactor.apply(
                plain, self._edits(plain.decode("latin-1"), final=True), self._counts
            )[0]
        found = redact_eventstream.look(plain, self._redactor, self._counts, final=True)
        if found.broken:
            raise redact_content_coding.Opaque("what follows the last frame is none")
        return redact_eventstream.apply(plain, found.patches)[0]

    def _is_framed(self, data: bytes) -> bool:
        """Is it frames, as its media type says? An error in their place is plain text."""
        self._frames = self._frames and (not data or data[0] <= 1)
        return self._frames

    def _framed(self, data: bytes, *, final: bool) -> tuple[bytes, Chunks]:
        """Whole frames; of a stream of them that breaks off, nothing after that can be looked into."""
        if not self._started and not self._is_framed(data):
            return self.release(final=final)
        self._started = bool(data)
        found = redact_eventstream.look(data, self._redactor, self._counts, final=final)
        ends = [end for end in self._ends if end[0] <= found.size]
        self._keep(data[found.size :], [(end - found.size, at_ns) for end, at_ns in self._ends[len(ends) :]])
        out, moves = redact_eventstream.apply(data[: found.size], found.patches)
        places = moved((end for end, _ in ends), moves)
        chunks = self._chunks([(p, at_ns) for p, (_, at_ns) in zip(places, ends, strict=True)], len(out))
        if found.broken:
            self._give_up()
            if final:
                rest, last = self._lost_placeholder()
                return out + rest, chunks + last
        return out, chunks


def untouched(redactor: Redactor, head: Head, parts: Sequence[bytes]) -> bytes | None:
    """A whole document of which `Body` would replace nothing, found without one; None: ask `Body`."""
    if redactor.rules is not None or head.codings or head.kind.partition(";")[0].strip() != _JSON:
        return None
    data = parts[0] if len(parts) == 1 else b"".join(parts)
    if len(data) > min(MAX_HELD, MAX_PIECE) or data.lstrip()[:1] == b"[":
        return None
    return None if redact_text.suspects(data.decode("latin-1")) else data


def _whole_events(text: str) -> int:
    """Where the last whole event ends; lines of JSON end in one line break, server-sent events in two."""
    if text.lstrip("\r\n")[:1] in "{[":
        return text.rfind("\n") + 1
    ends = (text.rfind(mark) + len(mark) for mark in ("\n\n", "\r\n\r\n", "\r\r") if mark in text)
    return max(ends, default=0)
