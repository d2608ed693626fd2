"""Finding secrets in text of any kind: JSON (whole, cut short, or inside SSE), forms, plain text.

Nothing is parsed: keys and values are found where they stand and only they are replaced, so every
other byte survives, malformed input included. What is wrapped (JSON in a JSON string, `\\u` escapes,
percent-encoding, base64) is unwrapped with a map back to where each character stood.

Texts are bytes decoded as Latin-1, so that an offset in the text is an offset in the bytes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from faultwire import _core
from faultwire.tape.redact.edit import edits_of
from faultwire.tape.redact.packed import Unwrapped
from faultwire.tape.redact.search import search

if TYPE_CHECKING:
    from faultwire.tape.redact.edit import Edit


def suspects(text: str) -> bool:
    """May there be a secret in this text? Fast, and never wrong with no."""
    return _core.secret_suspected(text)


def encodes(text: str) -> bool:
    """Does a text hold escapes, percent-encoding or HTML, in which a shape does not stand out?"""
    return _core.is_encoding(text)


def suspects_record(record: bytes) -> bool:
    """The same for a record: canonical JSON, in whose strings a quote is always escaped."""
    return _core.secret_suspected_in_record(record)


def edits(text: str) -> list[Edit]:
    """Where the secrets are, in order, without overlap."""
    return edits_of(search().edits(text, 0, "all"))


def unescape(text: str, start: int, end: int) -> Unwrapped:
    """What the inside of a JSON string says. A broken escape stands for itself."""
    return _moved(_core.unescape_json(text[start:end]), start)


def unquote(text: str, start: int, end: int, *, blanks: bool = False) -> Unwrapped:
    """What a word with percent-encoding says; in a form or a query a plus is a blank."""
    return _moved(_core.unquote_word(text[start:end], blanks), start)


def _moved(inner: tuple[str, list[int]], start: int) -> Unwrapped:
    return Unwrapped(inner[0], [start + at for at in inner[1]])
