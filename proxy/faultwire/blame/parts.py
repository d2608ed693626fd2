"""The parts of a failed run that may have made it fail: where it differs from the calm run."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from faultwire.trials.model import Pin

Kind = Literal["fault", "answer"]


@dataclass(frozen=True, slots=True)
class Part:
    """One place at which a run can be as in the failed run, or as in the calm one.

    `exchange` is its number in the failed run and `step` what was asked there. A `fault` is one decision of
    a fault (`pin`, with its `settings` in words); an `answer` is all that was answered to one request.
    `failed` and `calm` are what either run has there, for readers.
    """

    exchange: int
    kind: Kind
    label: str
    step: str = ""
    pin: Pin | None = None
    key: str = ""
    settings: str = ""
    failed: str = ""
    calm: str = ""

    @property
    def identity(self) -> list[object]:
        """What a journal knows it by."""
        pinned = [self.pin.entry, self.pin.call] if self.pin is not None else []
        return [self.exchange, self.kind, self.key, *pinned]


def baselines(parts: list[Part], steps: int) -> dict[str, int | None]:
    """The exchanges that simple rules would blame: the first and the last step of the run, and the first
    fault. None where a rule has nothing to name."""
    faults = [part.exchange for part in parts if part.kind == "fault"]
    return {
        "first step": 1 if steps else None,
        "last step": steps or None,
        "first fault": min(faults, default=None),
    }
