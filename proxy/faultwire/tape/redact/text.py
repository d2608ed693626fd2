"""Finding secrets in text of any kind: JSON (whole, cut short, or inside SSE), forms, plain text.

Nothing is parsed: keys and values are found where they stand and only they are replaced, so every
other byte survives, malformed input included. What is wrapped (JSON in a JSON string, `\\u` escapes,
percent-encoding, base64) is unwrapped with a map back to where each character stood.

Texts are bytes decoded as Latin-1, so that an offset in the text is an offset in the bytes.
"""

from __future__ import annotations

import re
from base64 import b64decode
from typing import TYPE_CHECKING
from urllib import parse

from faultwire import _core
from faultwire.tape.redact.base64 import wrapped_base64
from faultwire.tape.redact.edit import MARK, Edit, merged
from faultwire.tape.redact.known_keys import known_edits
from faultwire.tape.redact.names import BODY_NAMES
from faultwire.tape.redact.packed import (
    SUSPECT_MARKUP,
    Unwrapped,
    compressed_edits,
    is_packed,
    packed_edits,
    unmarked,
)
from faultwire.tape.redact.url import SUSPECT_URL, url_edits
from faultwire.tape.redact.values import LONGEST, SUSPECT, values

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    Known = Callable[[str], list[Edit]]

_DEPTH = 6

# Letters, digits, quotes, what joins names and values or the parts of a token, or stands in Base64:
# & + - . / = ? _; and %, as what is percent-encoded twice writes all of them.
_CODES = "(?:2[2567bBdDeEfF]|3[0-9dDfF]|[46][1-9a-fA-F]|[57][0-9aA]|5[fF])"
_ESCAPED = rf"\\u00{_CODES}"
# The blanks of a private key's first line are all that a form or a URL must write otherwise.
_PERCENT = rf"%{_CODES}|BEGIN(?:%20|\+)[A-Z]"
_QUOTED_NAME = rf"\\*[\"'](?i:{BODY_NAMES})\\*[\"']\s*:"
_BASE64 = wrapped_base64()

SUSPECT_BODY = "|".join((SUSPECT, SUSPECT_URL, _QUOTED_NAME, _ESCAPED, _PERCENT, _BASE64, SUSPECT_MARKUP))
_SUSPECT = _core.Regex(SUSPECT_BODY)
_NAMES = _core.Regex(rf"[\"'](?i:{BODY_NAMES})[\"']\s*:")
# A record's own keys are quoted plainly; a secret's name inside one of its strings is not.
_SUSPECT_RECORD = _core.Regex(
    "|".join(
        [
            *(SUSPECT, SUSPECT_URL, r"\\" + _QUOTED_NAME, rf"'(?i:{BODY_NAMES})'\s*:"),
            *(r"\\" + _ESCAPED, _PERCENT, _BASE64, SUSPECT_MARKUP),
        ]
    )
)
_ENCODES = _core.Regex("|".join((_ESCAPED, _PERCENT, SUSPECT_MARKUP)))
_WRAPPED = _core.Regex("|".join((_ESCAPED, r"\\[\"'/]")))
_PERCENTS = _core.Regex(_PERCENT)
_BASE64S = _core.Regex(_BASE64)

_MEMBER = re.compile(
    rf"([\"'])(?:{BODY_NAMES})\1\s*:\s*"
    r"(?:\"(?P<double>[^\"\\\n]*(?:\\.[^\"\\\n]*)*)|'(?P<single>[^'\\\n]*(?:\\.[^'\\\n]*)*)"
    r"|(?P<number>-?[0-9][0-9.eE+-]*)|(?P<list>\[[^\[\]{}]*))",
    re.IGNORECASE,
)
STRING = re.compile(r"\"([^\"\\\n]*(?:\\.[^\"\\\n]*)*)\"?")
_ESCAPE = re.compile(r"\\(?:u([0-9A-Fa-f]{4})|(.))|[^\\]+|\\", re.DOTALL)
# With what encoders leave as it is: `encodeURIComponent` !*'(), `encodeURI` ;,/:@$ besides, and Go's
# `PathEscape` :@$. A value ends where its run ends, so what is left out here would stay of a password.
PERCENT_RUN = re.compile(r"(?:%[0-9A-Fa-f]{2}|[A-Za-z0-9_.~+/:@!*'()$,;-])+")
_BASE64_RUN = re.compile(r"[A-Za-z0-9+/_-]+")
_STANDARD = str.maketrans("-_", "+/")
"""The URL alphabet of Base64 to the standard one."""
_SHORT = {"b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t"}


def suspects(text: str) -> bool:
    """May there be a secret in this text? Fast, and never wrong with no."""
    return _SUSPECT.is_match(text) or is_packed(text) or bool(known_edits(text))


def encodes(text: str) -> bool:
    """Does a text hold escapes, percent-encoding or HTML, in which a shape does not stand out?"""
    return _ENCODES.is_match(text)


def suspects_record(record: bytes) -> bool:
    """The same for a record: canonical JSON, in whose strings a quote is always escaped."""
    return (
        _SUSPECT_RECORD.is_match(record.decode("latin-1"))
        or _core.holds_packed(record)
        or _core.record_holds_secret(record)
    )


def edits(text: str, depth: int = 0, known: Known = known_edits) -> list[Edit]:
    """Where the secrets are, in order, without overlap; `known` finds those of services in the text."""
    found = [Edit(v.start, v.end, v.what, text[v.start : v.end], lead=v.lead) for v in values(text)]
    found += _members(text)
    found += url_edits(text)
    found += known(text)
    if depth < _DEPTH:
        found += _in_strings(text, depth, known)
        found += _in_percent(text, depth)
        found += _in_base64(text)
        found += packed_edits(text, lambda one: bool(edits(one, _DEPTH, known)))
        found += compressed_edits(text, lambda one: bool(edits(one, _DEPTH, known)))
        found += _in_markup(text, depth, known)
    return merged(found)


# ---------------------------------------------------------------- by name


def _members(text: str) -> Iterator[Edit]:
    """Values of secret keys. Objects stay: their own keys are looked at (a JSON schema of a login
    form has a `password` that is no secret)."""
    strings = _Strings(text)
    for start in _NAMES.starts(text):
        member = _MEMBER.match(text, start)
        if member is not None and not (member[1] == "'" and member["double"] and strings.holds(start)):
            yield from _scalars(member)


class _Strings:
    """Which places of a text are inside of a JSON string. Asked in ascending order, it reads on from the
    last answer: a text of nothing but such places is read once."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._asked = self._start = self._end = 0

    def holds(self, place: int) -> bool:
        """Is this inside? Then a bare double quote after it ends that string."""
        line = self._text.rfind("\n", self._asked, place) + 1
        if line > self._end:
            self._start = self._end = line
        self._asked = place
        while self._end <= place:
            found = STRING.search(self._text, self._end)
            # Where no string follows, none will be looked for again.
            self._start, self._end = found.span() if found else (len(self._text) + 1,) * 2
        return self._start <= place


def _scalars(member: re.Match[str]) -> Iterator[Edit]:
    lead = member.start()
    for name in ("double", "single"):
        if member[name]:
            yield from _edit(*member.span(name), member[name], lead)
    if member["number"]:
        yield Edit(*member.span("number"), "key", member["number"], '"', lead)
    if member["list"]:
        for string in STRING.finditer(member.string, *member.span("list")):
            if string[1]:
                yield from _edit(*string.span(1), string[1], lead)


def _edit(start: int, end: int, value: str, lead: int) -> Iterator[Edit]:
    if not value.startswith(MARK):
        yield Edit(start, end, "key", value, lead=lead)


# ---------------------------------------------------------------- unwrapping


def _in_markup(text: str, depth: int, known: Known) -> Iterator[Edit]:
    """In what HTML and quoted-printable say."""
    for inner in unmarked(text):
        yield from _inner(inner, depth, known, in_markup)


def _in_strings(text: str, depth: int, known: Known) -> Iterator[Edit]:
    """Inside JSON strings that hold escapes: most of all JSON within JSON."""
    at = 0
    for place in _WRAPPED.starts(text):
        # The string around it begins after the last line break: JSON strings hold none.
        at = max(at, text.rfind("\n", at, place) + 1)
        while at <= place:
            string = STRING.search(text, at)
            if string is None:
                return
            # One that begins further on is looked at again, for the places in it.
            at = string.end() if string.start() < place else string.start()
            if string.start() < place < at:
                yield from _inner(unescape(text, *string.span(1)), depth, known, in_string)


def _inner(inner: Unwrapped, depth: int, known: Known, encode: Callable[[str], str]) -> Iterator[Edit]:
    """The edits of what was unwrapped, in the text around it, where `encode` writes a quote."""
    if not suspects(inner.text):
        return
    for edit in edits(inner.text, depth + 1, known):
        yield edit._replace(
            start=inner.starts[edit.start],
            end=inner.starts[edit.end],
            lead=inner.starts[edit.begin],
            quote=encode(edit.quote),
        )


def in_string(quote: str) -> str:
    """A quote as it stands in a JSON string."""
    return quote.replace("\\", "\\\\").replace('"', '\\"')


def in_word(quote: str) -> str:
    """The same in a word with percent-encoding."""
    return parse.quote(quote)


def in_markup(quote: str) -> str:
    """The same in HTML. It is whole there, too, where the HTML stands in a JSON string."""
    return quote.replace("&", "&amp;").replace("\\", "&#92;").replace('"', "&quot;")


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
    """Inside words with percent-encoded letters, digits or what joins names and values."""
    for start, end in _runs(text, _PERCENTS.starts(text), PERCENT_RUN):
        yield from _inner(unquote(text, start, end), depth, known_edits, in_word)
        if text.find("+", start, end) >= 0:
            yield from _inner(unquote(text, start, end, plus=" "), depth, known_edits, in_word)


def unquote(text: str, start: int, end: int, plus: str = "+") -> Unwrapped:
    """What a word with percent-encoding says; in a form or a query a `plus` is a blank."""
    parts: list[str] = []
    starts: list[int] = []
    at = start
    while at < end:
        starts.append(at)
        if text[at] == "%":
            parts.append(chr(int(text[at + 1 : at + 3], 16)))
            at += 3
        else:
            parts.append(plus if text[at] == "+" else text[at])
            at += 1
    starts.append(end)
    return Unwrapped("".join(parts), starts)


def _in_base64(text: str) -> Iterator[Edit]:
    """Runs of base64 that say a secret; the whole run goes."""
    for start, end in _runs(text, _BASE64S.starts(text), _BASE64_RUN):
        if _encodes_secret(text[start:end]):
            yield Edit(start, end, "base64", text[start:end])


def _runs(text: str, places: Iterable[int], run: re.Pattern[str]) -> Iterator[tuple[int, int]]:
    """The runs of one kind of characters that the places are in, each once, at most `LONGEST` of one to
    either side of a place. What lies before the end of the last run is not looked at again."""
    at = 0
    for place in places:
        if place < at:
            continue
        floor = max(at, place - LONGEST)
        start = max(floor, *(text.rfind(mark, floor, place) + 1 for mark in '"\n ?&='))  # in no run
        for found in run.finditer(text, start, place + LONGEST):
            if found.end() > place:
                at = found.end()
                yield found.span()
                break


def _encodes_secret(run: str) -> bool:
    """Does the run decode to a secret, wherever in it the encoding really begins?"""
    plain = run.translate(_STANDARD)
    for skip in range(4):
        piece = plain[skip:]
        # One character over says no byte. Of the padding no more than is missing is read.
        raw = b64decode((piece[:-1] if len(piece) % 4 == 1 else piece) + "==")
        if next(values(raw.decode("latin-1")), None) is not None:
            return True
    return False
