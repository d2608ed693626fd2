"""Finding secrets in text of any kind: JSON (whole, cut short, or inside SSE), forms, plain text.

Nothing is parsed: keys and values are found where they stand and only they are replaced, so every
other byte survives, malformed input included. What is wrapped (JSON in a JSON string, `\\u` escapes,
percent-encoding, base64) is unwrapped with a map back to where each character stood.

Texts are bytes decoded as Latin-1, so that an offset in the text is an offset in the bytes.
"""

from __future__ import annotations

import re
from base64 import b64decode
from typing import TYPE_CHECKING, NamedTuple

from faultwire import _core
from faultwire.tape.redact_base64 import wrapped_base64
from faultwire.tape.redact_names import BODY_NAMES, query_class
from faultwire.tape.redact_values import LONGEST, SUSPECT, values

if TYPE_CHECKING:
    from collections.abc import Iterator

_DEPTH = 6

_ESCAPED = r"\\u00(?:2[dD]|3[0-9]|[46][1-9a-fA-F]|[57][0-9aA]|5[fF])"
_PERCENT = r"%(?:2[dD]|3[0-9]|[46][1-9a-fA-F]|[57][0-9aA]|5[fF])"
_QUOTED_NAME = rf"\\*[\"'](?i:{BODY_NAMES})\\*[\"']\s*:"
_BASE64 = wrapped_base64()

SUSPECT_BODY = "|".join((SUSPECT, _QUOTED_NAME, _ESCAPED, _PERCENT, _BASE64))
_SUSPECT = _core.Regex(SUSPECT_BODY)
_NAMES = _core.Regex(_QUOTED_NAME)
# A record's own keys are quoted plainly; a secret's name inside one of its strings is not.
_SUSPECT_RECORD = _core.Regex(
    "|".join(
        (SUSPECT, r"\\" + _QUOTED_NAME, rf"'(?i:{BODY_NAMES})'\s*:", r"\\" + _ESCAPED, _PERCENT, _BASE64)
    )
)
_WRAPPED = _core.Regex("|".join((_ESCAPED, r"\\[\"']")))
_PERCENTS = _core.Regex(_PERCENT)
_BASE64S = _core.Regex(_BASE64)

_MEMBER = re.compile(
    rf"([\"'])(?:{BODY_NAMES})\1\s*:\s*"
    r"(?:\"(?P<double>[^\"\\\n]*(?:\\.[^\"\\\n]*)*)|'(?P<single>[^'\\\n]*(?:\\.[^'\\\n]*)*)"
    r"|(?P<number>-?[0-9][0-9.eE+-]*)|(?P<list>\[[^\[\]{}]*))",
    re.IGNORECASE,
)
_STRING = re.compile(r"\"([^\"\\\n]*(?:\\.[^\"\\\n]*)*)\"?")
_ESCAPE = re.compile(r"\\(?:u([0-9A-Fa-f]{4})|(.))|[^\\]+|\\", re.DOTALL)
_PERCENT_RUN = re.compile(r"(?:%[0-9A-Fa-f]{2}|[A-Za-z0-9_.~+/-])+")
_BASE64_RUN = re.compile(r"[A-Za-z0-9+/_-]{16,}")
_SHORT = {"b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t"}


class Edit(NamedTuple):
    """A secret's place. `what` is None for the rest of one that is replaced further left."""

    start: int
    end: int
    what: str | None
    value: str
    quote: str = ""
    """What must surround the placeholder, where a number becomes a string."""


class Unwrapped(NamedTuple):
    """Decoded text; character `i` stood at `starts[i]`, and `starts[len(text)]` is the end."""

    text: str
    starts: list[int]


def suspects(text: str) -> bool:
    """May there be a secret in this text? Fast, and never wrong with no."""
    return _SUSPECT.is_match(text)


def suspects_record(text: str) -> bool:
    """The same for a record: canonical JSON, in whose strings a quote is always escaped."""
    return _SUSPECT_RECORD.is_match(text)


def edits(text: str, depth: int = 0) -> list[Edit]:
    """Where the secrets are, in order, without overlap."""
    found = [Edit(start, end, what, text[start:end]) for start, end, what in values(text)]
    found += _members(text)
    if depth < _DEPTH:
        found += _in_strings(text, depth)
        found += _in_percent(text, depth)
        found += _in_base64(text)
    return merged(found)


def merged(found: list[Edit]) -> list[Edit]:
    """Sorted, overlaps joined: the first of several keeps its class and swallows the others."""
    out: list[Edit] = []
    for edit in sorted(found, key=lambda e: (e.start, -e.end)):
        if out and edit.start < out[-1].end:
            if edit.end > out[-1].end:
                out[-1] = out[-1]._replace(end=edit.end)
        else:
            out.append(edit)
    return out


# ---------------------------------------------------------------- by name


def _members(text: str) -> Iterator[Edit]:
    """Values of secret keys. Objects stay: their own keys are looked at (a JSON schema of a login
    form has a `password` that is no secret)."""
    at = 0
    while (hit := _NAMES.search(text[at:])) is not None:
        start = at + hit[0]
        at = start + 1
        member = _MEMBER.match(text, start)
        if member is not None:
            yield from _scalars(member)


def _scalars(member: re.Match[str]) -> Iterator[Edit]:
    for name in ("double", "single"):
        if member[name]:
            yield from _edit(*member.span(name), member[name])
    if member["number"]:
        yield Edit(*member.span("number"), "key", member["number"], '"')
    if member["list"]:
        for string in _STRING.finditer(member.string, *member.span("list")):
            if string[1]:
                yield from _edit(*string.span(1), string[1])


def _edit(start: int, end: int, value: str) -> Iterator[Edit]:
    if not value.startswith("redacted:v1:"):
        yield Edit(start, end, "key", value)


# ---------------------------------------------------------------- unwrapping


def _in_strings(text: str, depth: int) -> Iterator[Edit]:
    """Inside JSON strings that hold escapes: most of all JSON within JSON."""
    at = 0
    while (hit := _WRAPPED.search(text[at:])) is not None:
        # The string around it begins after the last line break: JSON strings hold none.
        line = text.rfind("\n", 0, at + hit[0]) + 1
        place = at + hit[0]
        end = place + 1
        for string in _STRING.finditer(text, line):
            if string.end() > place:
                end = max(end, string.end())
                if string.start() < place:
                    yield from _inner(unescape(text, *string.span(1)), depth)
                break
        at = end


def _inner(inner: Unwrapped, depth: int) -> Iterator[Edit]:
    if not suspects(inner.text):
        return
    for edit in edits(inner.text, depth + 1):
        yield edit._replace(
            start=inner.starts[edit.start],
            end=inner.starts[edit.end],
            quote=edit.quote.replace("\\", "\\\\").replace('"', '\\"'),
        )


def unescape(text: str, start: int, end: int) -> Unwrapped:
    """What the inside of a JSON string says. A broken escape stands for itself."""
    parts: list[str] = []
    starts: list[int] = []
    for token in _ESCAPE.finditer(text, start, end):
        if token[1]:
            parts.append(chr(int(token[1], 16)))
            starts.append(token.start())
        elif token[2]:
            parts.append(_SHORT.get(token[2], token[2]))
            starts.append(token.start())
        else:
            parts.append(token[0])
            starts.extend(range(token.start(), token.end()))
    starts.append(end)
    return Unwrapped("".join(parts), starts)


def _in_percent(text: str, depth: int) -> Iterator[Edit]:
    """Inside words with percent-encoded letters or digits, which no usual encoder writes."""
    at = 0
    while (hit := _PERCENTS.search(text[at:])) is not None:
        start, end = _run_around(text, at + hit[0], _PERCENT_RUN)
        at = max(end, at + hit[1])
        yield from _inner(_unquote(text, start, end), depth)


def _unquote(text: str, start: int, end: int) -> Unwrapped:
    parts: list[str] = []
    starts: list[int] = []
    at = start
    while at < end:
        starts.append(at)
        if text[at] == "%":
            parts.append(chr(int(text[at + 1 : at + 3], 16)))
            at += 3
        else:
            parts.append(text[at])
            at += 1
    starts.append(end)
    return Unwrapped("".join(parts), starts)


def _in_base64(text: str) -> Iterator[Edit]:
    """Runs of base64 that say a secret; the whole run goes."""
    at = 0
    while (hit := _BASE64S.search(text[at:])) is not None:
        start, end = _run_around(text, at + hit[0], _BASE64_RUN)
        at = max(end, at + hit[1])
        if _says_secret(text[start:end]):
            yield Edit(start, end, "base64", text[start:end])


def _run_around(text: str, place: int, run: re.Pattern[str]) -> tuple[int, int]:
    """The run of one kind of characters that `place` is in, at most `LONGEST` to either side."""
    start = max(*(text.rfind(mark, 0, place) + 1 for mark in "\"'\n ,;:?&="), place - LONGEST)
    for found in run.finditer(text, start, place + LONGEST):
        if found.end() > place:
            return found.span()
    return place, place


def _says_secret(run: str) -> bool:
    """Does the run decode to a secret, wherever in it the encoding really begins?"""
    plain = run.replace("-", "+").replace("_", "/")
    for skip in range(4):
        piece = plain[skip:]
        raw = b64decode(piece[: len(piece) & ~3] + _padded(piece[len(piece) & ~3 :]))
        if next(values(raw.decode("latin-1")), None) is not None:
            return True
    return False


def _padded(rest: str) -> str:
    return "" if len(rest) < 2 else rest + "=" * (4 - len(rest))


def form_edits(text: str) -> list[Edit]:
    """Values of secret fields in a form body."""
    found: list[Edit] = []
    at = 0
    for pair in text.split("&"):
        name, mark, value = pair.partition("=")
        if mark and value and query_class(name):
            found.append(Edit(at + len(name) + 1, at + len(pair), "query", value))
        at += len(pair) + 1
    return found
