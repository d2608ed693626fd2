"""What is packed in a text so that nothing can be replaced inside of it, or only by way of a map.

Base64, Base32, hexadecimal and compressed streams go whole where they hold what must go: nobody would find
the end of a placeholder in them. HTML and quoted-printable are unwrapped with a map back to where each
character stood. `wire.framing.readings` is the one place that knows what a packed text holds.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from faultwire import _core
from faultwire.tape.redact.edit import edits_of
from faultwire.tape.redact.search import search

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from faultwire.tape.redact.edit import Edit


class Unwrapped(NamedTuple):
    """Decoded text; character `i` stood at `starts[i]`, and `starts[len(text)]` is the end."""

    text: str
    starts: list[int]


def is_packed(text: str) -> bool:
    """May something be packed in it, other than in HTML?"""
    return _core.is_packed(text)


def packed_edits(text: str, holds: Callable[[str], bool]) -> list[Edit]:
    """The packed stretches of which a reading `holds` something, or that cannot be read to the end."""
    return edits_of(search().packed_edits(text, holds))


def compressed_edits(text: str, holds: Callable[[str], bool]) -> list[Edit]:
    """The same of compressed streams."""
    return edits_of(search().compressed_edits(text, holds))


def unmarked(text: str) -> Iterator[Unwrapped]:
    """What HTML and quoted-printable in a text say, where there are any."""
    return map(Unwrapped._make, _core.unwrap_markup(text))
