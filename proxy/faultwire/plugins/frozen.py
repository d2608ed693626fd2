"""`dataclass` for the values that are made many times for each exchange.

A frozen dataclass sets each of its members through `object.__setattr__`, which more than doubles what
making one costs (1.76 instead of 0.75 µs for sixteen members, CPython 3.11). An engine makes dozens of them
per exchange, and does not have them checked. Only where a package adds faults or protocols of its own it
does: their mistakes must stop an exchange, not change what its tape says. Type checkers and every other
process, the tests' among them, see them frozen.
"""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable
    from dataclasses import dataclass as dataclass

_Made = TypeVar("_Made")
_unchecked: list[bool] = []


def leave_unchecked() -> None:
    """Have no value checked in this process; called before anything that defines one is imported."""
    _unchecked.append(True)


def made(*, frozen: bool = False, slots: bool = False) -> Callable[[type[_Made]], type[_Made]]:
    """As `dataclasses.dataclass`; equal frozen values have equal hashes either way."""
    loose = frozen and bool(_unchecked)
    return dataclasses.dataclass(frozen=frozen and not loose, slots=slots, unsafe_hash=loose)


if not TYPE_CHECKING:
    dataclass = made
