"""Values that are secret by their shape: keys of well-known providers, JWTs, private keys, bearers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from faultwire import _core

if TYPE_CHECKING:
    from collections.abc import Iterator

LONGEST: Final = 16384
"""No shape is longer; of a longer secret the first part is found."""


class Value(NamedTuple):
    """A secret's place and class; what tells it begins at `lead`, perhaps further left."""

    start: int
    end: int
    what: str
    lead: int


def values(text: str) -> Iterator[Value]:
    """Each secret value in a text, in order; a JWT may come after one that begins in it."""
    return map(Value._make, _core.shaped_values(text))
