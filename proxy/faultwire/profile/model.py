"""A profile: which faults, on which exchanges, how often. Frozen; made by `load`, read by `decide`."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, NonNegativeInt, PositiveInt

from faultwire.faults._api import Fault

Globs = str | tuple[str, ...]
"""One glob (`*`, `?`; case-sensitive), or several of which any may match."""


class Frozen(BaseModel):
    """Base of the settings here: no unknown keys, no change after loading."""

    model_config = ConfigDict(frozen=True, extra="forbid", hide_input_in_errors=True)


class On(Frozen):
    """Which exchanges an entry is about: all keys must match, a list means any of.

    Without `kind`, `host`, `path`, `url` or `method`, exchanges that are not model, tool or agent
    traffic never match: telemetry is not faulted by accident.
    """

    kind: Literal["llm", "tool", "agent", "other"] | None = None
    provider: Globs | None = None
    model: Globs | None = None
    host: Globs | None = None
    method: Globs | None = None
    path: Globs | None = None
    url: Globs | None = None
    tool: Globs | None = None
    session: Globs | None = None
    stream: bool | None = None
    status: int | tuple[int, ...] | None = None
    header: dict[str, str] | None = None


class Trigger(Frozen):
    """When a matching entry fires. Conditions combine with *and*; counts are per session and entry.

    Counted are logical calls: an SDK's own retries of one call share one decision, unless
    `attempts` narrows it.
    """

    probability: Annotated[float, Field(ge=0, le=1)] | None = None
    after_calls: NonNegativeInt | None = None
    first: PositiveInt | None = None
    max_times: PositiveInt | None = None
    attempts: Literal["all", "first"] | PositiveInt = "all"


class Entry(Frozen):
    """One line of a profile. `id` is stable under insertion of other entries: the fault's name, or
    `name#2` for the second of its kind, unless the user gave one. `line` is where it stands."""

    id: str
    fault: Fault
    on: On = On()
    trigger: Trigger = Trigger()
    line: int | None = None


class ToolSite(Frozen):
    """Where a tool is found on the wire."""

    url: Globs | None = None


class Profile(Frozen):
    """A named set of faults. `digest` is the SHA-256 of the file's bytes, empty for inline ones."""

    name: str
    description: str = ""
    tools: dict[str, ToolSite] = {}
    entries: tuple[Entry, ...] = ()
    path: str = "<inline>"
    digest: str = ""
