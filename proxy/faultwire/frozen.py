"""`dataclass` for the values that are made many times for each exchange.

A frozen dataclass sets each of its members through `object.__setattr__`, which more than doubles what
making one costs (1.76 instead of 0.75 µs for sixteen members, CPython 3.11). The engine, which runs under
`python -O`, makes dozens of them per exchange: there they are checked by nobody, as asserts are not. Type
checkers and every process without `-O`, the tests' among them, see them frozen.
"""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable
    from dataclasses import dataclass as dataclass

_Made = TypeVar("_Made")


def made(
    *, frozen: bool = False, slots: bool = False, optimised: bool = not __debug__
) -> Callable[[type[_Made]], type[_Made]]:
    """As `dataclasses.dataclass`; equal frozen values have equal hashes either way."""
    loose = frozen and optimised
    return dataclasses.dataclass(frozen=frozen and not loose, slots=slots, unsafe_hash=loose)


if not TYPE_CHECKING:
    dataclass = made
