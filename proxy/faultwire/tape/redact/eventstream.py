"""Redaction of AWS event streams: what the frames say is looked through, and the frames stay valid.

A payload is JSON, or JSON around Base64 of JSON (`{"bytes": "…"}`). What all frames say is laid out as
lines, so that a secret that a model says over several frames is found as in any other stream.
"""

from __future__ import annotations

import re
from base64 import b64decode, b64encode
from bisect import bisect_left, bisect_right
from itertools import accumulate
from typing import TYPE_CHECKING, NamedTuple

from faultwire import _core
from faultwire.tape.redact import stream as redact_stream
from faultwire.tape.redact.redactor import moved

if TYPE_CHECKING:
    from collections.abc import Sequence

    from faultwire.tape.redact.edit import Edit
    from faultwire.tape.redact.redactor import Counts, Moves, Redactor

KIND = "vnd.amazon.eventstream"
"""What tells such a body, in its media type."""

_PRELUDE = 12
_CHECKSUM = 4
_BYTES = re.compile(r'"bytes"\s*:\s*"([A-Za-z0-9+/]*=*)')


class Frame(NamedTuple):
    """A frame's place in the stream, and what it says as Latin-1; `whole` is False for one cut short.

    `inner` is what the Base64 in it says, which stands at `place` of the payload; `outer` is the rest.
    """

    start: int
    end: int
    payload: int
    whole: bool
    outer: str
    place: int
    inner: str


class Look(NamedTuple):
    """How far frames are safe to store, and how: replaced spans as (start, end, new bytes)."""

    size: int
    patches: list[tuple[int, int, bytes]]
    broken: bool
    """Is what follows `size` no frame?"""


def look(data: bytes, redactor: Redactor, counts: Counts, *, final: bool) -> Look:
    """Look through the frames at the beginning of `data`. `final`: no more bytes come."""
    frames, broken = _frames(data, final=final)
    lines = [line for frame in frames for line in (frame.outer, frame.inner)]
    starts = [0, *accumulate(len(line) + 1 for line in lines)]
    text = "\n".join(lines)
    # Frames are whole, so that also before the end of the stream no string in them is open.
    edits = redact_stream.last_edits(text, redactor.rules)
    count = len(frames)
    if not final and not broken:
        place = redact_stream.open_from(text, redact_stream.texts_by_member(text), redactor.rules)
        while place < len(text):
            count = (bisect_right(starts, place) - 1) // 2
            bound = starts[2 * count]
            place = min((e.begin for e in edits if e.begin < bound < e.end), default=len(text))
    found = _by_line(edits, starts)
    patches = []
    for at, frame in enumerate(frames[:count]):
        new = _patched(data, frame, (found.get(2 * at, []), found.get(2 * at + 1, [])), redactor, counts)
        if new is not None:
            patches.append((frame.start, frame.end, new))
    return Look(frames[count - 1].end if count else 0, patches, broken)


def apply(data: bytes, patches: Sequence[tuple[int, int, bytes]]) -> tuple[bytes, Moves]:
    """The stream with each patch made, and how places moved."""
    out: list[bytes] = []
    at = 0
    for start, end, new in patches:
        out += [data[at:start], new]
        at = end
    out.append(data[at:])
    return b"".join(out), [(start, end, len(new)) for start, end, new in patches]


# ---------------------------------------------------------------- reading


def _frames(data: bytes, *, final: bool) -> tuple[list[Frame], bool]:
    splitter = _core.EventStreamSplitter()
    pieces = splitter.feed(data)
    broken = splitter.broken is not None
    if broken:
        pieces.pop()
    frames: list[Frame] = []
    at = 0
    for piece in pieces:
        frames.append(_frame(piece, at, whole=True))
        at += len(piece)
    if final and not broken:
        frames.append(_frame(data[at:], at, whole=False))
    return frames, broken


def _frame(piece: bytes, at: int, *, whole: bool) -> Frame:
    payload = min(_PRELUDE + int.from_bytes(piece[4:8]), len(piece))
    text = piece[payload : len(piece) - _CHECKSUM if whole else None].decode("latin-1")
    found = _BYTES.search(text)
    if found is None:
        return Frame(at, at + len(piece), at + payload, whole, text, 0, "")
    start, end = found.span(1)
    outer, inner = text[:start] + text[end:], _plain(found[1])
    return Frame(at, at + len(piece), at + payload, whole, outer, start, inner)


def _plain(text: str) -> str:
    bare = text.rstrip("=")
    bare = bare if len(bare) % 4 != 1 else bare[:-1]
    return b64decode(bare + "==").decode("latin-1")  # more of these than needed change nothing


# ---------------------------------------------------------------- writing


def _by_line(edits: list[Edit], starts: list[int]) -> dict[int, list[Edit]]:
    """Edits by the line that they are in, counted from its beginning; one over several is cut up."""
    found: dict[int, list[Edit]] = {}
    for edit in edits:
        first = bisect_right(starts, edit.start) - 1
        for line in range(first, bisect_left(starts, edit.end)):
            start, end = max(edit.start - starts[line], 0), min(edit.end, starts[line + 1] - 1) - starts[line]
            part = edit if line == first else edit._replace(what=None)
            found.setdefault(line, []).append(part._replace(start=start, end=end))
    return found


def _patched(
    data: bytes, frame: Frame, edits: tuple[list[Edit], list[Edit]], redactor: Redactor, counts: Counts
) -> bytes | None:
    """The frame without its secrets; None where it has none. Of a secret in its header nothing is kept."""
    piece = data[frame.start : frame.end]
    header = piece[: frame.payload - frame.start].decode("latin-1")
    if redact_stream.whole_edits(header):
        return _opaque(piece, frame, redactor, counts)
    if not any(edits):
        return None
    outer, moves = redactor.apply(frame.outer.encode("latin-1"), edits[0], counts)
    inner, _ = redactor.apply(frame.inner.encode("latin-1"), edits[1], counts)
    (at,) = moved([frame.place], moves)
    payload = outer[:at] + b64encode(inner) + outer[at:]
    if not frame.whole:
        # It has no end, so nobody can read it: its prelude and header say what it was.
        return piece[: frame.payload - frame.start]
    try:
        return _core.eventstream_with_payload(piece, payload)
    except ValueError:
        return _opaque(piece, frame, redactor, counts)


def _opaque(piece: bytes, frame: Frame, redactor: Redactor, counts: Counts) -> bytes:
    text = redactor.placeholder("opaque", piece.decode("latin-1"), counts)
    return _core.eventstream_write((), text.encode()) if frame.whole else b""
