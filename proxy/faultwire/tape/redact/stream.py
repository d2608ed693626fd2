"""What a stream must keep back until more has come: the tail that may be the beginning of a secret.

Two texts are watched. One is the stream itself. The other is what it says: models send a few letters
per event, so a key that a model repeats stands in no single event, but in their texts joined.
"""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING, NamedTuple

from faultwire import _core, wire
from faultwire.tape.redact.edit import Edit, merged
from faultwire.tape.redact.names import BODY_NAMES
from faultwire.tape.redact.text import edits, in_string, suspects, unescape
from faultwire.tape.redact.user_matches import WINDOW, rule_edits, text_edits
from faultwire.tape.redact.values import LONGEST

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from faultwire.tape.redact.rules import Rules


@cache
def _delta() -> re.Pattern[str]:
    """A member that carries a piece of text, in the streams of all known protocols."""
    names = "|".join(sorted(map(re.escape, wire.text_members())))
    return re.compile(rf'"({names})": ?"([^"\\]*(?:\\.[^"\\]*)*)"')


# A data line that is no JSON: some servers send bare text. It looks back at the beginning of the line, since
# a pattern that begins with letters is found much faster.
_PLAIN = re.compile(r"data:(?<=^data:)(?: (?![{\[])|(?![ {\[]))([^\r\n]+)", re.MULTILINE)

_OPEN = _core.Regex(
    "(?:"
    + "|".join(
        (
            r"[!-~&&[^\"'<>\\]]+",
            r"[A-Za-z0-9_.-]{2,64}[ \t]{0,3}(?:=|:=|=>|:)[ \t]{0,3}[\"'`]?[!-~&&[^\"'<>\\]]*",
            r"(?:Bearer|bearer|BEARER) +[!-~&&[^\"'<>\\]]*",
            r"(?:[A-Za-z0-9+/]{32,76}\r?\n[ \t]?){1,256}[A-Za-z0-9+/=]{0,80}",
            r"-----BEGIN[A-Z ]*-{0,4}",
            r"-----BEGIN [A-Z ]{0,32}PRIVATE KEY[^-]*-----[^-]*(?:-{1,5}[A-Z ]*-{0,4})?",
            rf"\\*[\"'](?i:{BODY_NAMES})\\*[\"']?\s*(?::\s*(?:\\*[\"'](?:[^\"'\\]|\\.)*\\?|[-0-9.eE+]*|\[[^\]]*)?)?",
        )
    )
    + ")$"
)


class TextPiece(NamedTuple):
    """A piece of a stream's text: member name, and its place in the stream (escapes and all)."""

    name: str
    start: int
    end: int


def open_tail(text: str, rules: Rules | None = None) -> int:
    """How many characters at the end may belong to a secret that has not come whole."""
    found = _OPEN.search(text[-LONGEST:])
    least = min(len(text), WINDOW) if rules is not None and rules.looks else 0
    return max(found[1] - found[0] if found else 0, least)


def text_pieces(text: str) -> list[TextPiece]:
    """The pieces, in order."""
    pieces = [TextPiece(found[1], *found.span(2)) for found in _delta().finditer(text)]
    pieces += [TextPiece("", *found.span(1)) for found in _PLAIN.finditer(text)]
    return pieces


def texts_by_member(text: str) -> dict[str, str]:
    """The stream's texts by member name, escapes as they are; a faster form of `text_pieces`."""
    found = _delta().findall(text)
    names = {name for name, _ in found}
    texts = {name: "".join([piece for one, piece in found if one == name]) for name in names}
    plain = _PLAIN.findall(text)
    if plain:
        texts[""] = "".join(plain)
    return texts


def is_suspect(text: str, texts: dict[str, str], rules: Rules | None = None) -> bool:
    """May there be a secret in the stream or in its texts?"""
    return rules is not None or suspects(text) or any(suspects(one) for one in texts.values())


def open_from(text: str, texts: dict[str, str], rules: Rules | None = None) -> int:
    """Where in the stream the earliest open tail of its texts begins; its length if there is none."""
    tails = {name: open_tail(one, rules) for name, one in texts.items()}
    start = len(text)
    for piece in reversed(text_pieces(text)):
        left = tails[piece.name]
        if left > 0:
            start = min(start, piece.start)
            tails[piece.name] = left - (piece.end - piece.start)
    return start


def last_edits(text: str, rules: Rules | None = None) -> list[Edit]:
    """`stream_edits` of a stream that has ended, perhaps in the middle of a string."""
    size = len(text)
    closed = text + '""'  # two: the first may be escaped
    found = [e._replace(end=min(e.end, size)) for e in stream_edits(closed) if e.start < size]
    return found if rules is None else merged(found + _ruled(text, rules))


def stream_edits(text: str, rules: Rules | None = None) -> list[Edit]:
    """Where the secrets are, in the stream itself and in what it says."""
    found = _with_joined(text, _secrets(text), _secrets)
    return merged(found if rules is None else found + _ruled(text, rules))


def whole_edits(text: str, rules: Rules | None = None) -> list[Edit]:
    """Where they are in a body or a message that has come whole, and of which nothing else is known."""
    if text.lstrip()[:1] == "[":
        # Some servers stream their answers as the elements of one array.
        return last_edits(text, rules)
    found = _secrets(text)
    return found if rules is None else merged(found + rule_edits(text, rules))


def _ruled(text: str, rules: Rules) -> list[Edit]:
    """The same for what rules cover."""
    return _with_joined(text, rule_edits(text, rules), lambda whole: _covered(whole, rules))


def _with_joined(text: str, found: list[Edit], look: Callable[[str], list[Edit]]) -> list[Edit]:
    """What was found in a text, and what its pieces say joined. What goes on in another piece comes first: of
    two in one place `merged` keeps the first, and in a piece alone there was only the beginning."""
    secrets = [parts for pieces in _by_name(text) for parts in _across(text, pieces, look)]
    return ahead(secrets) + found + [parts[0] for parts in secrets if len(parts) == 1]


def ahead(secrets: list[list[Edit]]) -> list[Edit]:
    """The parts of those that are in several pieces."""
    return [part for parts in secrets if len(parts) > 1 for part in parts]


def joined_edits(text: str, pieces: list[TextPiece], rules: Rules | None) -> list[list[Edit]]:
    """Where the secrets are in pieces of a text joined: the edits of each."""
    return _across(text, pieces, lambda whole: merged(_secrets(whole) + _covered(whole, rules)))


def _secrets(text: str) -> list[Edit]:
    return edits(text) if suspects(text) else []


def _covered(text: str, rules: Rules | None) -> list[Edit]:
    return text_edits(text, rules) if rules is not None and rules.looks else []


def _by_name(text: str) -> Iterable[list[TextPiece]]:
    by_name: dict[str, list[TextPiece]] = {}
    for piece in text_pieces(text):
        by_name.setdefault(piece.name, []).append(piece)
    return by_name.values()


def _across(text: str, pieces: list[TextPiece], look: Callable[[str], list[Edit]]) -> list[list[Edit]]:
    """The edits of each secret in the joined pieces. The first piece gets the placeholder, the others lose
    their part."""
    found = look("".join([_plain_piece(text, piece) for piece in pieces]))
    if not found:
        return []
    # A number for each character: many times the text, so made only for one that holds something.
    starts: list[int] = []
    ends: list[int] = []
    for piece in pieces:
        places = unescape(text, piece.start, piece.end).starts if piece.name else _places(piece)
        starts += places[:-1]
        ends += places[1:]
    return [parts for edit in found if (parts := _split(edit, starts, ends))]


def _plain_piece(text: str, piece: TextPiece) -> str:
    """A piece without its escapes."""
    raw = text[piece.start : piece.end]
    return unescape(raw, 0, len(raw)).text if piece.name and "\\" in raw else raw


def _places(piece: TextPiece) -> list[int]:
    return list(range(piece.start, piece.end + 1))


def _split(edit: Edit, starts: list[int], ends: list[int]) -> list[Edit]:
    """One edit of joined text as edits of the runs that are contiguous in the stream."""
    quote = in_string(edit.quote)
    out: list[Edit] = []
    for at in range(edit.start, edit.end):
        if out and out[-1].end == starts[at]:
            out[-1] = out[-1]._replace(end=ends[at])
        else:
            first = not out
            what = edit.what if first else None
            lead = starts[edit.begin]
            value, around = (edit.value, quote) if first else ("", "")
            out.append(Edit(starts[at], ends[at], what, value, around, lead))
    return out
