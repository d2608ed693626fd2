"""What a stream must keep back until more has come: the tail that may be the beginning of a secret.

Two texts are watched. One is the stream itself. The other is what it says: models send a few letters
per event, so a key that a model repeats stands in no single event, but in their texts joined.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from faultwire import _core
from faultwire.tape.redact.edit import Edit, edits_of, merged
from faultwire.tape.redact.search import search
from faultwire.tape.redact.text import edits, suspects
from faultwire.tape.redact.user_matches import WINDOW, rule_edits, text_edits

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from faultwire.tape.redact.rules import Rules


class TextPiece(NamedTuple):
    """A piece of a stream's text: member name, and its place in the stream (escapes and all)."""

    name: str
    start: int
    end: int


def open_tail(text: str, rules: Rules | None = None) -> int:
    """How many characters at the end may belong to a secret that has not come whole."""
    return max(len(text) - _core.open_tail(text), min(len(text), _least(rules)))


def _least(rules: Rules | None) -> int:
    return WINDOW if rules is not None and rules.looks else 0


def text_pieces(text: str) -> list[TextPiece]:
    """The pieces, in order."""
    return list(map(TextPiece._make, search().pieces(text)))


def texts_by_member(text: str) -> dict[str, str]:
    """The stream's texts by member name, escapes as they are; a faster form of `text_pieces`."""
    return dict(search().texts(text))


def is_suspect(text: str, texts: dict[str, str], rules: Rules | None = None) -> bool:
    """May there be a secret in the stream or in its texts?"""
    return rules is not None or suspects(text) or any(suspects(one) for one in texts.values())


def open_from(text: str, texts: dict[str, str], rules: Rules | None = None) -> int:
    """Where in the stream the earliest open tail of its texts begins; its length if there is none."""
    return search().open_from(text, list(texts.items()), _least(rules))


def last_edits(text: str, rules: Rules | None = None) -> list[Edit]:
    """`stream_edits` of a stream that has ended, perhaps in the middle of a string."""
    found = edits_of(search().last_edits(text))
    return found if rules is None else merged(found + _ruled(text, rules))


def stream_edits(text: str, rules: Rules | None = None) -> list[Edit]:
    """Where the secrets are, in the stream itself and in what it says."""
    found = edits_of(search().stream_edits(text))
    return found if rules is None else merged(found + _ruled(text, rules))


def whole_edits(text: str, rules: Rules | None = None) -> list[Edit]:
    """Where they are in a body or a message that has come whole, and of which nothing else is known."""
    if text.lstrip()[:1] == "[":
        # Some servers stream their answers as the elements of one array.
        return last_edits(text, rules)
    found = _secrets(text)
    return found if rules is None else merged(found + rule_edits(text, rules))


def _ruled(text: str, rules: Rules) -> list[Edit]:
    """The same for what rules cover. What goes on in another piece comes first: of two in one place `merged`
    keeps the first, and in a piece alone there was only the beginning."""
    found = rule_edits(text, rules)
    secrets = [
        parts
        for pieces in _by_name(text)
        for parts in _across(text, pieces, lambda whole: _covered(whole, rules))
    ]
    return ahead(secrets) + found + [parts[0] for parts in secrets if len(parts) == 1]


def ahead(secrets: list[list[Edit]]) -> list[Edit]:
    """The parts of those that are in several pieces."""
    return [part for parts in secrets if len(parts) > 1 for part in parts]


def joined_edits(text: str, pieces: list[TextPiece], rules: Rules | None) -> list[list[Edit]]:
    """Where the secrets are in pieces of a text joined: the edits of each."""
    if rules is None:
        return _across(text, pieces, None)
    return _across(text, pieces, lambda whole: merged(_secrets(whole) + _covered(whole, rules)))


def _secrets(text: str) -> list[Edit]:
    return edits(text) if suspects(text) else []


def _covered(text: str, rules: Rules) -> list[Edit]:
    return text_edits(text, rules) if rules.looks else []


def _by_name(text: str) -> Iterable[list[TextPiece]]:
    by_name: dict[str, list[TextPiece]] = {}
    for piece in text_pieces(text):
        by_name.setdefault(piece.name, []).append(piece)
    return by_name.values()


def _across(text: str, pieces: list[TextPiece], look: Callable[[str], list[Edit]] | None) -> list[list[Edit]]:
    """The edits of each secret in the joined pieces. The first piece gets the placeholder, the others lose
    their part."""
    return [edits_of(parts) for parts in search().across(text, pieces, look)]
