"""One entry of a profile: which fault, on which exchanges, how often. Frozen."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, NonNegativeFloat, NonNegativeInt, PositiveInt

from faultwire.events import Exchange, Kind
from faultwire.faults._api import Fault, RequestFault, ResultFault, Site

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
    def compiled(self) -> CompiledEntry:
        """The same as every decision reads it."""
        return compiled(self)

    @cached_property
    def settings(self) -> dict[str, Any]:
        """The fault's settings that are not as usual, as JSON; nobody changes them."""
        return self.fault.non_default_settings()


@dataclass(slots=True, eq=False)
class CompiledEntry:
    """An entry as the decision on every exchange reads it: made once, of plain values. Members without a word
    of their own are those of its fault and its trigger.

    Reading a member of a settings model takes several times as long as one of these, and a profile may have
    hundreds of entries that match everything and wait.
    """

    entry: Entry
    id: str
    name: str
    site: Site
    settings: dict[str, Any]
    plain: bool
    """Does nothing but its trigger decide, where `profile.candidates` takes it for fitting?"""
    only_waits: bool
    """Does nothing of it but its trigger look at the session, and nothing but its fault at the response? Then
    `exchange.gate` may judge it."""
    reads_view: bool
    """May it look at what the request says, beyond what the protocol makes of it?"""
    watches: bool
    """Does its fault look on where it does not fire?"""
    result: bool
    """Is it about a tool's result?"""
    conversation: bool
    """Is it about the texts of a conversation?"""
    kinds: tuple[str, ...]
    protocols: tuple[str, ...]
    asks: Callable[[Exchange], str | None] | None
    """Why it cannot act, where its fault looks at more than kind and protocol."""
    between_s: tuple[float, float] | None
    after_calls: int | None
    first: int | None
    calls: tuple[int, ...] | None
    every: int | None
    recover_after: Recovery | None
    max_times: int | None
    probability: float | None
    stages: tuple[Stage, ...] | None
    attempts: Literal["all", "first"] | int

    def inapplicable(self, exchange: Exchange) -> str | None:
        """As its fault's."""
        if self.asks is not None:
            return self.asks(exchange)
        if self.kinds and exchange.kind not in self.kinds:
            return self.entry.fault.inapplicable(exchange)
        if self.protocols and exchange.protocol not in self.protocols:
            return self.entry.fault.inapplicable(exchange)
        return None


def compiled(entry: Entry) -> CompiledEntry:
    """Read an entry."""
    on, fault, trigger = entry.on, entry.fault, entry.trigger
    result = isinstance(fault, ResultFault)
    own = type(fault).inapplicable is not Fault.inapplicable
    watches = type(fault).watch is not Fault.watch
    conversation = isinstance(fault, RequestFault)
    untooled = on.status is None and on.tool is None and on.sites is None and not result
    texts = (on.model, on.stream, on.turn, on.text)
    return CompiledEntry(
        entry=entry,
        id=entry.id,
        name=fault.name,
        site=fault.site,
        settings=entry.settings,
        plain=on.settled and untooled,
        only_waits=untooled and not watches and not conversation,
        reads_view=result or conversation or own or any(key is not None for key in texts),
        watches=watches,
        result=result,
        conversation=conversation,
        kinds=fault.kinds,
        protocols=fault.protocols,
        asks=fault.inapplicable if own else None,
        between_s=trigger.between_s,
        after_calls=trigger.after_calls,
        first=trigger.first,
        calls=trigger.calls,
        every=trigger.every,
        recover_after=trigger.recover_after,
        max_times=trigger.max_times,
        probability=trigger.probability,
        stages=trigger.stages,
        attempts=trigger.attempts,
    )
