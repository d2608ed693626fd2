"""The only reader of chance.

Decisions are rolled with a keyed hash and never drawn from a sequence: a roll depends on what it is
*for* (seed, session, fault, exchange, occurrence, purpose) and on nothing that happened before it.
Arrival order, concurrency and added faults therefore never shift another decision.
"""

from __future__ import annotations

import secrets
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar

from faultwire import _core

if TYPE_CHECKING:
    from collections.abc import Sequence

T = TypeVar("T")
_VERSION = "faultwire-dice-v1"


def unit(seed: int, session: str, fault: str, key: str, n: int, purpose: str = "fire") -> float:
    """A number in [0, 1), the same for the same arguments, forever.

    The parts are joined length-prefixed, so that no two different tuples hash the same text.
    """
    text = _joined(_VERSION, str(seed), session, fault, key, str(n), purpose)
    return _core.unit(text.encode())


def _joined(*parts: str) -> str:
    return "".join([f"{len(part.encode())}:{part}" for part in parts])


@dataclass(frozen=True, slots=True)
class Dice:
    """The dice of one session."""

    seed: int
    session: str

    def roll(self, fault: str, key: str, n: int, purpose: str = "fire") -> float:
        """A number in [0, 1) for one decision."""
        return unit(self.seed, self.session, fault, key, n, purpose)

    @property
    def stem(self) -> str:
        """What every roll of this session is hashed from first; the core rolls for entries that wait."""
        return _joined(_VERSION, str(self.seed), self.session)

    def held(self, fault: str, key: str, n: int) -> FaultDice:
        """The dice that one fault holds for one exchange."""
        return FaultDice(self, fault, key, n)


@dataclass(frozen=True, slots=True)
class FaultDice:
    """The dice that one fault holds for one exchange: it names only the purpose of a roll."""

    dice: Dice
    fault: str
    key: str
    n: int

    def unit(self, purpose: str) -> float:
        """A number in [0, 1)."""
        return self.dice.roll(self.fault, self.key, self.n, purpose)

    def uniform(self, low: float, high: float, purpose: str) -> float:
        """A number in [low, high)."""
        return low + (high - low) * self.unit(purpose)

    def choice(self, options: Sequence[T], purpose: str) -> T:
        """One of `options`, each as likely."""
        return options[int(self.unit(purpose) * len(options))]


def token(size: int = 8) -> str:
    """Fresh random hex of `size` bytes, for names that must be unguessable; never for decisions."""
    return secrets.token_hex(size)
