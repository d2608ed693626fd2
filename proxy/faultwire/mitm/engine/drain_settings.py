"""What an engine is asked that is to be drained."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from faultwire.profile.entry_model import Frozen


class DrainSettings(Frozen):
    """How long the sessions of an engine that is drained may go on."""

    within_s: Annotated[float, Field(ge=0, le=86_400)] = 60.0
