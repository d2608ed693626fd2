"""One entry of a profile: which fault, on which exchanges, how often. Frozen."""

from __future__ import annotations

from functools import cached_property
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, NonNegativeFloat, NonNegativeInt, PositiveInt

from faultwire.events import Kind
from faultwire.faults._api import Fault

Globs = str | tuple[str, ...]
"""One glob (`*`, `?`; case-sensitive), or several of which any may match."""


ARROW = "->"
"""Between the two ends of an edge."""

ToolSiteName = Literal["http", "mcp", "result"]


class Frozen(BaseModel):
    """Base of the settings here: no unknown keys, no change after loading."""

    model_config = ConfigDict(frozen=True, extra="forbid", hide_input_in_errors=True)


class On(Frozen):
    """Which exchanges an entry is about: all keys must match, a list means any of.

    `tool` means the outermost site at which that tool is seen in the session: its own HTTP exchange, its
    call by MCP, or its result in a request to the model. `site` forces one.

    `agent` is the agent that is called (agent-to-agent), `edge` two of them: `planner->writer`.

    Without `kind`, `host`, `path`, `url` or `method`, exchanges that are not model, tool or agent
    traffic never match: telemetry is not faulted by accident.
    """

    kind: Kind | tuple[Kind, ...] | None = None
    provider: Globs | None = None
    model: Globs | None = None
    host: Globs | None = None
    method: Globs | None = None
    path: Globs | None = None
    url: Globs | None = None
    tool: Globs | None = None
    agent: Globs | None = None
    edge: Globs | None = None
    site: ToolSiteName | tuple[ToolSiteName, ...] | None = None
    session: Globs | None = None
    stream: bool | None = None
    status: int | tuple[int, ...] | None = None
    header: dict[str, str] | None = None
    body: dict[str, str | int | float | bool | None] | None = None
    turn: int | tuple[int, ...] | None = None
    text: Globs | None = None

    @cached_property
    def named(self) -> bool:
        """Does it say where: a host, a path, a URL or a method?"""
        return any(key is not None for key in (self.host, self.path, self.url, self.method))

    @cached_property
    def kinds(self) -> tuple[Kind, ...] | None:
        """`kind` as several kinds, None where it is not set."""
        return (self.kind,) if isinstance(self.kind, str) else self.kind

    @cached_property
    def sites(self) -> tuple[ToolSiteName, ...] | None:
        """`site` as several sites, None where it is not set."""
        return (self.site,) if isinstance(self.site, str) else self.site

    @cached_property
    def edges(self) -> tuple[tuple[str, str], ...]:
        """`edge` as pairs of globs: who calls, and who is called."""
        texts = (self.edge,) if isinstance(self.edge, str) else self.edge or ()
        pairs = (text.partition(ARROW) for text in texts)
        return tuple((caller.strip(), called.strip()) for caller, _, called in pairs)

    @cached_property
    def settled(self) -> bool:
        """Does it look at nothing but what `profile.candidates` has compared already?"""
        more = (self.url, self.stream, self.edge, self.header, self.turn, self.text, self.body)
        return all(key is None for key in more)

    @cached_property
    def lasting(self) -> On:
        """The keys that hold for a whole conversation: all but those that name a moment of it."""
        if self.turn is None and self.text is None:
            return self
        return self.model_copy(update={"turn": None, "text": None})

    @cached_property
    def globs(self) -> tuple[tuple[str, tuple[str, ...]], ...]:
        """The keys that are set and compare one text of the request: matching looks at nothing else."""
        keys = ("provider", "model", "host", "method", "path", "url", "session", "tool", "agent")
        values = ((key, getattr(self, key)) for key in keys)
        return tuple((k, (v,) if isinstance(v, str) else v) for k, v in values if v is not None)


class Stage(Frozen):
    """Part of a session: its share of calls that fire, for so many calls (absent: all that follow)."""

    for_calls: PositiveInt | None = None
    probability: Annotated[float, Field(ge=0, le=1)]


class Recovery(Frozen):
    """How long an outage lasts, counted from the first time that an entry fires."""

    calls: PositiveInt | None = None
    s: Annotated[float, Field(gt=0, le=86_400)] | None = None


class Trigger(Frozen):
    """When a matching entry fires. Conditions combine with *and*; counts are per session and entry.

    Counted are logical calls: an SDK's own retries of one call share one decision, unless
    `attempts` narrows it.
    """

    probability: Annotated[float, Field(ge=0, le=1)] | None = None
    after_calls: NonNegativeInt | None = None
    first: PositiveInt | None = None
    max_times: PositiveInt | None = None
    every: PositiveInt | None = None
    calls: tuple[PositiveInt, ...] | None = None
    between_s: tuple[NonNegativeFloat, NonNegativeFloat] | None = None
    stages: tuple[Stage, ...] | None = None
    recover_after: Recovery | None = None
    no_sdk_retry: bool = False
    attempts: Literal["all", "first"] | PositiveInt = "all"


class Entry(Frozen):
    """One line of a profile. `id` is stable under insertion of other entries: the fault's name, or
    `name#2` for the second of its kind, unless the user gave one. `line` is where it stands. `mark` names
    the fault in a header of the answers that it gives or changes; a command's option sets it."""

    id: str
    fault: Fault
    on: On = On()
    trigger: Trigger = Trigger()
    line: int | None = None
    mark: bool = False

    @cached_property
    def settings(self) -> dict[str, Any]:
        """The fault's settings that are not as usual, as JSON; nobody changes them."""
        return self.fault.non_default_settings()
