"""What bytes say when their encodings are undone: what a scan of traffic must look at.

Undone are content codings, gzip (RFC 1952) at any place, percent and plus encoding, JSON in JSON, HTML,
Base64 and Base32 (RFC 4648, in lines as in RFC 2045, too), hexadecimal and quoted-printable. Nothing is
changed: each reading is a text of its own.
"""

from __future__ import annotations

import binascii
import html
import json
import quopri
import re  # noqa: TID251 - the patterns below are fixed and linear
import zlib
from base64 import b32decode, b64decode
from typing import TYPE_CHECKING, Any, Final, NamedTuple
from urllib.parse import unquote_to_bytes

from faultwire.errors import WireError
from faultwire.wire.framing.content_coding import MAX_BYTES, decoded, is_encoded

if TYPE_CHECKING:
    from collections.abc import Iterator

    from faultwire.events import Headers

DEPTH: Final = 5
"""Encodings around each other that are undone."""
BUDGET: Final = 8 << 20
"""Bytes of all readings together, besides the first."""
_STRETCHES: Final = 4096
"""Encoded stretches of one text that are decoded."""

_GZIP = b"\x1f\x8b\x08"
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
_SIGNS = re.compile(r"[A-Za-z0-9+/_-]{12,}(?:={1,6})?")
_LINES = re.compile(r"(?:[A-Za-z0-9+/]{32,76}\r?\n[ \t]?){1,4096}[A-Za-z0-9+/]{1,76}={0,2}")
_HEX = re.compile(r"(?:[0-9A-Fa-f]{2}){10,}")
_BASE32 = re.compile(r"(?:[A-Z2-7]{16,}|[a-z2-7]{16,})={0,6}")
_ESCAPE = re.compile(r"\\(?:u([0-9A-Fa-f]{4})|(.))")
_SHORT = {"b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t"}


class Readings(NamedTuple):
    """The texts, each once, first the one that stands there; and what could not be read, if anything."""

    texts: tuple[str, ...]
    unread: str | None = None


def readings(data: bytes, headers: Headers = ()) -> Readings:
    """Every reading of a body with these header fields."""
    unread: str | None = None
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
            return Readings(tuple(found), "it unpacks to too much")
        found[text] = None
        unread = unread or _beyond(raw)
        inner = [one for one in _inside(raw, text) if one != raw]
        if depth < DEPTH:
            waiting += [(one, depth + 1) for one in inner]
        elif inner:
            unread = unread or f"it has more than {DEPTH} encodings around each other"
    return Readings(tuple(found), unread)


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


def _inside(raw: bytes, text: str) -> Iterator[bytes]:
    at = raw.find(_GZIP)
    for _ in range(16):
        if at < 0:
            break
        unpacked = _gunzip(raw[at:])
        if unpacked:
            yield unpacked
        at = raw.find(_GZIP, at + 1)
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
    """What Base64, Base32 and hexadecimal in a text say."""
    tries = 0
    for pattern, decode in ((_LINES, _base64), (_SIGNS, _base64), (_BASE32, _base32), (_HEX, _hex)):
        for found in pattern.finditer(text):
            tries += 1
            if tries > _STRETCHES:
                return
            plain = decode("".join(found[0].split()))
            if plain is not None and (plain.startswith(_GZIP) or _readable(plain)):
                yield plain


def _base64(text: str) -> bytes | None:
    body = text.rstrip("=").replace("-", "+").replace("_", "/")
    if len(body) % 4 == 1:
        return None
    try:
        return b64decode(body + "=" * (-len(body) % 4), validate=True)
    except (binascii.Error, ValueError):
        return None


def _base32(text: str) -> bytes | None:
    body = text.rstrip("=").upper()
    try:
        return b32decode(body + "=" * (-len(body) % 8))
    except (binascii.Error, ValueError):
        return None


def _hex(text: str) -> bytes | None:
    return bytes.fromhex(text)


def _readable(plain: bytes) -> bool:
    """Is it a text? Nearly all other stretches give bytes that are none."""
    try:
        text = plain.decode("utf-8")
    except UnicodeDecodeError:
        return any(plain.startswith(mark) for mark, _ in _CONTAINERS)
    return len(text) > 5 and all(one.isprintable() or one in "\r\n\t" for one in text)


def _gunzip(raw: bytes) -> bytes:
    try:
        return zlib.decompressobj(31).decompress(raw, min(MAX_BYTES, 512 * len(raw) + 4096))
    except zlib.error:
        return b""
