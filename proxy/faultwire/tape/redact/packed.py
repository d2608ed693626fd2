"""What is packed in a text so that nothing can be replaced inside of it, or only by way of a map.

Base64, Base32, hexadecimal and compressed streams go whole where they hold what must go: nobody would find
the end of a placeholder in them. HTML and quoted-printable are unwrapped with a map back to where each
character stood. `wire.framing.readings` is the one place that knows what a packed text holds.
"""

from __future__ import annotations

import html
import re
from typing import TYPE_CHECKING, NamedTuple

from faultwire import _core
from faultwire.tape.redact.edit import Edit
from faultwire.wire.framing.readings import readings, streams, unpacked_at

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

SUSPECT_MARKUP = r"&(?:#[0-9]{1,7}|#[xX][0-9A-Fa-f]{1,6}|[A-Za-z]{2,8});|(?i:quoted-printable)"
"""What tells HTML, or quoted-printable (RFC 2045, 6.7)."""

_MARKED = _core.Regex(r"&(?:#[0-9]{1,7}|#[xX][0-9A-Fa-f]{1,6}|[A-Za-z]{2,8});|<[/A-Za-z][^<>]{0,199}>")
_MARKUP = re.compile(
    r"&(?:#[0-9]{1,7}|#[xX][0-9A-Fa-f]{1,6}|[A-Za-z]{2,8});|<[/A-Za-z][^<>]{0,199}>|[^&<]+|[&<]"
)
_PRINTABLE = re.compile(r"=(?:([0-9A-Fa-f]{2})|(?:\\r)?\\n|\r?\n)|[^=]+|=")


class Unwrapped(NamedTuple):
    """Decoded text; character `i` stood at `starts[i]`, and `starts[len(text)]` is the end."""

    text: str
    starts: list[int]


def is_packed(text: str) -> bool:
    """May something be packed in it, other than in HTML?"""
    data = _bytes(text)
    return _core.holds_compressed(data) or _core.holds_packed(data)


def packed_edits(text: str, holds: Callable[[str], bool]) -> Iterator[Edit]:
    """The packed stretches of which a reading `holds` something, or that cannot be read to the end."""
    for start, end, form, plain in _core.packed_stretches(_bytes(text)):
        if _must_go(plain, holds):
            yield Edit(start, end, form, text[start:end])


def compressed_edits(text: str, holds: Callable[[str], bool]) -> Iterator[Edit]:
    """The same of compressed streams."""
    try:
        raw = text.encode("latin-1")
    except UnicodeEncodeError:
        return
    if not _core.holds_compressed(raw):
        return
    done = 0
    for at in sorted(streams(raw)):
        plain, end, whole = unpacked_at(raw, at) if at >= done else (b"", at, True)
        if plain and _must_go(plain, holds):
            done = end if whole else len(raw)
            yield Edit(at, done, "compressed", text[at:done])


def _must_go(plain: bytes, holds: Callable[[str], bool]) -> bool:
    found = readings(plain)
    return found.limited or any(map(holds, found.texts))


def _bytes(text: str) -> bytes:
    """A byte for each character, so that places are the same."""
    try:
        return text.encode("latin-1")
    except UnicodeEncodeError:
        return text.encode("ascii", "replace")


def unmarked(text: str) -> Iterator[Unwrapped]:
    """What HTML and quoted-printable in a text say, where there are any."""
    if _MARKED.is_match(text):
        yield _mapped(text, _MARKUP, _without_markup)
    if "quoted-printable" in text.lower():
        yield _mapped(text, _PRINTABLE, _printable)


def _mapped(text: str, tokens: re.Pattern[str], decode: Callable[[re.Match[str]], str | None]) -> Unwrapped:
    parts: list[str] = []
    starts: list[int] = []
    for token in tokens.finditer(text):
        plain = decode(token)
        if plain is None:
            parts.append(token[0])
            starts.extend(range(token.start(), token.end()))
        else:
            parts.append(plain)
            starts.extend([token.start()] * len(plain))
    starts.append(len(text))
    return Unwrapped("".join(parts), starts)


def _without_markup(token: re.Match[str]) -> str | None:
    """Nothing for a tag; what a reference stands for, but no quote that would end a string in JSON."""
    first = token[0][0]
    if first == "<" and len(token[0]) > 1:
        return ""
    return html.unescape(token[0]).replace('"', "'") if first == "&" and len(token[0]) > 1 else None


def _printable(token: re.Match[str]) -> str | None:
    if token[1]:
        return chr(int(token[1], 16))
    return "" if token[0][0] == "=" and len(token[0]) > 1 else None
