"""`agent_partition`: two groups of agents cannot reach each other for a while."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, ClassVar, Literal, Self

from pydantic import Field, model_validator

from faultwire._core import glob_match
from faultwire.events import Cut, Kind, Reset, Wait
from faultwire.faults._api import Fault, Mutator, Site
from faultwire.faults._settings import Milliseconds, Seconds

if TYPE_CHECKING:
    from collections.abc import Iterable

    from faultwire.dice import FaultDice
    from faultwire.events import Action, Exchange

Name = Annotated[str, Field(min_length=1, max_length=200)]
Group = Annotated[tuple[Name, ...], Field(min_length=1, max_length=64)]


class AgentPartition(Fault):
    """Part agents into two groups that cannot reach each other.

    What it does:
        From `from_s` to `until_s` of the session no call passes between an agent of `one` and an agent of
        `other`, in either direction, its card included; within a group everything passes. `silent` takes
        the request and never answers (for `for_ms`, or until the caller gives up), as a firewall that
        drops packets does; `refused` resets the connection. The called agent is never asked. Who calls is
        known by `agents` in the profile; a call whose caller is not known passes, and the ledger says so.

    Why agents break:
        Each side goes on with what it has: work is done twice, or by nobody, and when the partition heals the
        halves disagree. One that waits without a limit never finds out.

    Real-world source:
        Network policies rolled out to one cluster, a broken link between regions, an expired tunnel.

    Example:
        faults:
          - agent_partition: {one: [planner], other: [writer, researcher], from_s: 5, until_s: 20}
            on: {agent: "*"}
    """

    name: ClassVar[str] = "agent_partition"
    site: ClassVar[Site] = "connection"
    kinds: ClassVar[tuple[Kind, ...]] = ("agent",)

    one: Annotated[Group, Field(description="names or globs of the agents on one side")]
    other: Annotated[Group, Field(description="those on the other side")]
    how: Annotated[Literal["silent", "refused"], Field(description="what a caller meets")] = "silent"
    from_s: Annotated[Seconds, Field(description="when it begins, in seconds of the session")] = 0
    until_s: Annotated[Seconds | None, Field(description="when it heals; `null`: never")] = None
    for_ms: Annotated[
        Milliseconds | None, Field(description="how long silence lasts; `null`: until the caller gives up")
    ] = None

    @model_validator(mode="after")
    def _require_window(self) -> Self:
        if self.until_s is not None and self.until_s <= self.from_s:
            raise ValueError("found an `until_s` that is not after `from_s`")
        both = sorted(set(self.one) & set(self.other))
        if both:
            raise ValueError(f"found `{both[0]}` in `one` and in `other`, expected each agent on one side")
        return self

    def inapplicable(self, exchange: Exchange) -> str | None:
        """Only a call from one side to the other, while the partition lasts."""
        why = super().inapplicable(exchange)
        if why is not None:
            return why
        if exchange.at_s < self.from_s:
            return f"the partition begins at {self.from_s:g} s"
        if self.until_s is not None and exchange.at_s >= self.until_s:
            return f"the partition healed at {self.until_s:g} s"
        if exchange.caller is None:
            return "who calls is unknown: no agent of the profile has such a `caller`"
        return None if self._parted(exchange) else "both agents are on one side of the partition"

    def _parted(self, exchange: Exchange) -> bool:
        ends = (exchange.caller, exchange.agent)
        return any(
            _among(near, ends[0]) and _among(far, ends[1])
            for near, far in ((self.one, self.other), (self.other, self.one))
        )

    def start(self, exchange: Exchange, dice: FaultDice) -> Mutator:
        """Start before the agent is called."""
        return _Parted(self.how, self.for_ms, f"`{exchange.caller}` and `{exchange.agent}`")


class _Parted(Mutator):
    def __init__(self, how: str, for_ms: float | None, ends: str) -> None:
        self._how, self._for_ms, self._ends = how, for_ms, ends

    def before(self) -> Iterable[Action]:
        self.effect = f"{self._ends} are parted: {'never answered' if self._how == 'silent' else 'refused'}"
        if self._how == "refused":
            yield Reset()
            return
        yield Wait(None if self._for_ms is None else self._for_ms / 1000)
        yield Cut(clean=False)


def _among(names: tuple[str, ...], name: str | None) -> bool:
    return name is not None and any(glob_match(glob, name) for glob in names)
