"""What becomes of exchanges that a tape cannot take: because it is behind, or because it has failed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

RecordPolicy = Literal["block", "drop"]
"""With the writer's queue full, `block` slows the traffic down; `drop` lets it pass and says on the
tape what is missing."""

FailurePolicy = Literal["fail", "pass-unrecorded"]
"""Once the tape cannot be written, `fail` refuses new exchanges (503, and the run is void);
`pass-unrecorded` lets them pass, and the tape is incomplete."""

BEHIND = "the writer was behind"
"""Why a `drop` event says that an exchange is missing."""


@dataclass(frozen=True, slots=True)
class Policy:
    """Both choices of one tape."""

    when_full: RecordPolicy = "block"
    on_failure: FailurePolicy = "fail"

    @property
    def drops(self) -> bool:
        """Does traffic go on while the queue is full?"""
        return self.when_full == "drop"

    @property
    def passes(self) -> bool:
        """Does traffic go on after the tape has failed?"""
        return self.on_failure == "pass-unrecorded"


DEFAULT = Policy()
