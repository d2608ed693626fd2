"""What bytes say when their encodings are undone: what a scan of traffic must look at.

Undone are content codings, gzip (RFC 1952) at any place, zlib (RFC 1950) at the start of a body or a part,
percent and plus encoding, JSON in JSON, HTML, Base64 and Base32 (RFC 4648, in lines as in RFC 2045, too),
hexadecimal and quoted-printable. Nothing is changed: each reading is a text of its own.
"""

from __future__ import annotations

import html
import json
import quopri
import re  # noqa: TID251 - the patterns below are fixed and linear
import zlib
from typing import TYPE_CHECKING, Any, Final, NamedTuple
from urllib.parse import unquote_to_bytes

from faultwire import _core
from faultwire.errors import WireError
from faultwire.wire.framing.content_coding import decoded, is_encoded

if TYPE_CHECKING:
    from collections.abc import Iterator

    from faultwire.events import Headers

DEPTH: Final = 5
"""Encodings around each other that are undone."""
BUDGET: Final = 8 << 20
"""Bytes of all readings together, besides the first."""

_STREAMS: Final = 4096
"""Compressed streams of one text that are unpacked, of either kind."""

_GZIP = b"\x1f\x8b\x08"
_ZLIB = re.compile(rb"(?:\A|\n\r?\n)(x[\x01\x5e\x9c\xda])")
_CONTAINERS: Final = (
    (b"PK\x03\x04", "a ZIP archive"),
    (b"7z\xbc\xaf\x27\x1c", "a 7z archive"),
    (b"\xfd7zXZ\x00", "xz"),
    (b"BZh", "bzip2"),
    (b"\x28\xb5\x2f\xfd", "zstd"),
    (b"Rar!\x1a\x07", "a RAR archive"),
    (b"-----BEGIN PGP MESSAGE", "an encrypted message (PGP)"),
    (b"age-encryption.org/", "an encrypted file (age)"),
)

_FORM = re.compile(r"[^\s{}<>\"=&]+=[^\s{}<>\"]*")
_PERCENT = re.compile(r"%[0-9A-Fa-f]{2}")
_TAG = re.compile(r"<[^<>]{1,200}>")
_ESCAPE = re.compile(r"\\(?:u([0-9A-Fa-f]{4})|(.))")
_SHORT = {"b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t"}


class Readings(NamedTuple):
    """The texts, each once, first the one that stands there; and what could not be read, if anything."""

    texts: tuple[str, ...]
    unread: str | None = None
    limited: bool = False
    """Was there more than is undone here?"""


def readings(data: bytes, headers: Headers = ()) -> Readings:
    """Every reading of a body with these header fields."""
    unread: str | None = None
    limited = False
    if is_encoded(headers):
        try:
            data, partial = decoded(data, headers)
            unread = "it was read only in part" if partial else None
        except WireError:
            unread = "its content coding cannot be undone"
    found: dict[str, None] = {}
    waiting, spent = [(data, 0)], 0
    while waiting:
        raw, depth = waiting.pop(0)
        text = raw.decode("utf-8", "replace")
        if not text or text in found:
            continue
        spent += len(raw) if depth else 0
        if spent > BUDGET:
            return Readings(tuple(found), "it unpacks to too much", limited=True)
        found[text] = None
        unread = unread or _beyond(raw)
        inner = _bounded(raw, text)
        if depth < DEPTH:
            waiting += [(one, depth + 1) for one in inner]
        elif inner:
            limited = True
            unread = unread or f"it has more than {DEPTH} encodings around each other"
    return Readings(tuple(found), unread, limited)


def of_path(path: str) -> Readings:
    """The same of a request path with its query: a segment is a value of its own."""
    found = readings(path.encode("utf-8", "replace"))
    parts = tuple(text.replace("/", " ").replace("&", " & ") for text in found.texts)
    lines = path.replace("?", "\n").replace("&", "\n").replace("/", "\n")
    split = readings(lines.encode("utf-8", "replace"))
    return Readings(tuple(dict.fromkeys((*found.texts, *parts, *split.texts))), found.unread or split.unread)


def _beyond(raw: bytes) -> str | None:
    """What is in there that is not undone here."""
    return next((f"it holds {name}" for mark, name in _CONTAINERS if raw.startswith(mark)), None) or next(
        (f"it holds {name}" for mark, name in _CONTAINERS if len(mark) > 3 and b"\n" + mark in raw), None
    )


def _bounded(raw: bytes, text: str) -> list[bytes]:
    """The readings within a text; what is left out when there is too much is over the budget anyway."""
    found: list[bytes] = []
    size = 0
    for one in _inside(raw, text):
        size += len(one)
        if one != raw:
            found.append(one)
        if size > 4 * BUDGET:  # the same text may be among them several times
            break
    return found


def _inside(raw: bytes, text: str) -> Iterator[bytes]:
    for at in streams(raw):
        plain = unpacked_at(raw, at)[0]
        if plain:
            yield plain
    if _PERCENT.search(text) or (_FORM.fullmatch(text) and "+" in text):
        plus = text.replace("+", " ") if _FORM.fullmatch(text) else text
        yield unquote_to_bytes(plus)
    if "quoted-printable" in text.lower():
        yield quopri.decodestring(raw)
    yield from (one.encode("utf-8", "replace") for one in _written(text))
    yield from _stretches(text)


def _written(text: str) -> Iterator[str]:
    """What JSON and HTML say."""
    if text.lstrip()[:1] in ("{", "[", '"'):
        try:
            value = json.loads(text)
        except (ValueError, RecursionError):
            value = None
        if value is not None:
            yield from _members(value)
    if "\\" in text:
        yield _ESCAPE.sub(_unescaped, text)
    if "<" in text or "&" in text:
        yield html.unescape(text)
        yield html.unescape(_TAG.sub("", text))


def _members(value: Any) -> Iterator[str]:
    """All scalars with their names, a line each; and each text that may be encoded by itself."""
    lines: list[str] = []
    waiting = [("", value)]
    while waiting:
        name, one = waiting.pop()
        if isinstance(one, dict):
            waiting += [(str(key), inner) for key, inner in reversed(one.items())]
        elif isinstance(one, list):
            waiting += [(name, inner) for inner in reversed(one)]
        elif one is not None and not isinstance(one, bool):
            lines.append(f"{name}: {one}" if name else str(one))
            if isinstance(one, str) and (one[:1] in ("{", "[", '"') or "%" in one or "=" in one):
                yield one
    yield "\n".join(lines)


def _unescaped(found: re.Match[str]) -> str:
    return chr(int(found[1], 16)) if found[1] else _SHORT.get(found[2], found[2])


def _stretches(text: str) -> Iterator[bytes]:
    """What Base64, Base32 and hexadecimal in a text decode to."""
    yield from (plain for _, _, _, plain in _core.packed_stretches(text.encode("ascii", "replace")))


def unpacked_at(raw: bytes, at: int) -> tuple[bytes, int, bool]:
    """What a gzip or zlib stream (RFC 1952, RFC 1950) that begins at `at` holds, where it ends, and whether
    that is all. Nothing where none begins there."""
    stream = zlib.decompressobj(47)
    data = memoryview(raw)[at:]
    try:
        plain = stream.decompress(data, BUDGET + 1)
    except zlib.error:
        return b"", at, True
    return plain, len(raw) - len(stream.unused_data), stream.eof


def streams(raw: bytes) -> Iterator[int]:
    """Where a gzip stream may begin, and where one of zlib may: at the start of a body or of a part."""
    at = raw.find(_GZIP)
    for _ in range(_STREAMS):
        if at < 0:
            break
        yield at
        at = raw.find(_GZIP, at + 1)
    if b"x" in raw[:1] or b"\n\r\nx" in raw or b"\n\nx" in raw:
        yield from (found.start(1) for _, found in zip(range(_STREAMS), _ZLIB.finditer(raw), strict=False))
