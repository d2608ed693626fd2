"""What is replayed, and how: the settings that a command hands to the engine."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field


class ReplaySettings(BaseModel):
    """What is replayed, and how. `timing` times recorded instants: 0 does not wait at all, 1 waits as
    long as it took then. `on_miss` says what becomes of a call without a recorded answer."""

    model_config = ConfigDict(frozen=True, extra="forbid", hide_input_in_errors=True)

    tape: Path
    strict_order: bool = False
    reuse: bool = False
    rebind: bool = True
    masks: tuple[str, ...] = ()
    timing: float = Field(default=0.0, ge=0, le=100)
    on_miss: Literal["fail", "live", "record"] = "fail"
    unverified: bool = False
