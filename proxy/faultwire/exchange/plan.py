"""Which faults apply to an exchange, and why the others do not.

Pure: `decide(profile, dice, exchange, state)` reads the session's state and returns a `Plan`; the
caller writes each decision back with `SessionState.note`. Same arguments, same plan.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Literal

from faultwire.events import FaultFired
from faultwire.exchange.session_state import Subject
from faultwire.exchange.trigger import attempt_fires, judge
from faultwire.faults._api import ResultFault
from faultwire.plugins.frozen import dataclass
from faultwire.profile.match import may_match, mismatch, needs_response, response_mismatch
from faultwire.wire import tool_site
from faultwire.wire.framing import split as framing
from faultwire.wire.mcp import http as mcp

if TYPE_CHECKING:
    from collections.abc import Iterator

    from faultwire.dice import Dice
    from faultwire.events import Exchange, Outcome, ToolResult
    from faultwire.exchange.session_state import Judgement, SessionState, Verb
    from faultwire.faults._api import Site
    from faultwire.profile.entry_model import CompiledEntry, Entry, On
    from faultwire.profile.model import Profile
    from faultwire.wire.tool_sites import Own


@dataclass(frozen=True, slots=True)
class Decision:
    """What one entry does to one subject.

    `call` is the judgement on the whole logical call, which its attempts share; `counted` is False
    where the entry could not act at all. `at_s` is the exchange's instant in its session.
    """

    entry: Entry
    subject: Subject
    verb: Verb
    reason: str
    unit: float | None = None
    counted: bool = True
    call: Judgement = ("skip", "", None)
    at_s: float = 0.0
    site: Site | None = None
    """Where it acts, if that is not the fault's own site."""

    def line(
        self, outcome: Outcome | None = None, reason: str | None = None, effect: str | None = None
    ) -> FaultFired:
        """The line of the ledger for it; without an outcome, for one that does not act."""
        if outcome is None:
            outcome = "inapplicable" if self.verb == "inapplicable" else "skipped"
        entry, subject = self.entry.compiled, self.subject
        return FaultFired(
            entry.name, entry.id, self.site or entry.site, outcome, reason or self.reason,
            subject.key, subject.n, subject.attempt, self.unit, subject.name, effect, entry.settings,
        )  # fmt: skip

    @property
    def rests(self) -> bool:
        """Does its fault neither act nor look on, and is no place among `max_times` taken?"""
        acts = self.verb == "fire" or self.call[0] == "fire"
        return not acts and (self.verb != "skip" or not self.entry.compiled.watches)


@dataclass(frozen=True, slots=True)
class Plan:
    """The decisions on one exchange, in the order in which faults are composed."""

    decisions: tuple[Decision, ...] = ()
    deferred: tuple[Entry, ...] = ()
    """Entries that can only be decided once the response head is there."""

    @property
    def firing(self) -> tuple[Decision, ...]:
        """The decisions that act, in order."""
        return tuple(d for d in self.decisions if d.verb == "fire")


def decide(profile: Profile, dice: Dice, exchange: Exchange, state: SessionState) -> Plan:
    """The plan for an exchange whose request is known; entries on the response are deferred."""
    whole = Subject(exchange.key, exchange.n, exchange.attempt, exchange.tool or exchange.agent)
    decisions: list[Decision] = []
    deferred: list[Entry] = []
    at = _own_site(exchange)
    for compiled in profile.candidates.of(exchange):
        if compiled.plain:
            decisions.append(_judge(compiled, whole, exchange, dice, state))
            continue
        entry, result = compiled.entry, compiled.result
        on = entry.on
        if at is None and (result or (on.sites is not None and _off_site(on, exchange))):
            continue
        if not on.settled and mismatch(on, exchange, protocols=entry.fault.protocols) is not None:
            continue
        if at is not None and (elsewhere := _elsewhere(entry, exchange.tool, at, state)) is not None:
            decisions.extend(_passed_over(entry, whole, elsewhere))
        elif needs_response(on):
            deferred.append(entry)
        else:
            decision = _judge(compiled, whole, exchange, dice, state)
            decisions.append(replace(decision, site="response") if result else decision)
    return Plan(tuple(decisions), tuple(deferred))


def unknown_websocket(profile: Profile, exchange: Exchange) -> Iterator[FaultFired]:
    """A line for every entry that may have meant a WebSocket whose protocol nobody here knows."""
    if exchange.kind != "other" or not framing.wants_socket(exchange.request):
        return
    whole = Subject(exchange.key, exchange.n, exchange.attempt, exchange.tool or exchange.agent)
    for entry in profile.composed:
        if mismatch(entry.on, exchange) is None or not may_match(entry.on, replace(exchange, kind="llm")):
            continue
        why = "a WebSocket of no known protocol: nobody can tell whether it is a model's"
        yield Decision(entry, whole, "inapplicable", why).line()


def unread_request(profile: Profile, exchange: Exchange, why: str) -> Iterator[FaultFired]:
    """A line for every entry that may have meant a request which nobody looked into, and for those about
    tool results, which may stand in it."""
    whole = Subject(exchange.key, exchange.n, exchange.attempt, exchange.tool or exchange.agent)
    model = replace(exchange, kind="llm") if exchange.kind == "other" else exchange
    for entry in profile.composed:
        result = isinstance(entry.fault, ResultFault) and exchange.kind != "tool"
        applicable = mismatch(entry.on, exchange, protocols=entry.fault.protocols) is None
        if (result or not applicable) and may_match(entry.on, model):
            yield Decision(entry, whole, "inapplicable", why).line()


def decide_head(plan: Plan, dice: Dice, exchange: Exchange, state: SessionState) -> Plan:
    """The decisions on deferred entries, once `exchange.response` is there."""
    whole = Subject(exchange.key, exchange.n, exchange.attempt, exchange.tool or exchange.agent)
    return Plan(
        tuple(
            _judge(entry.compiled, whole, exchange, dice, state)
            for entry in plan.deferred
            if response_mismatch(entry.on, exchange) is None
        )
    )


def decide_result(
    profile: Profile,
    dice: Dice,
    exchange: Exchange,
    result: ToolResult,
    subject: Subject,
    state: SessionState,
) -> Plan:
    """The plan for one new tool result inside an LLM request; only the first that fires acts."""
    decisions: list[Decision] = []
    taken = False
    for compiled in profile.candidates.of(exchange, tool=result.name):
        if not compiled.result:
            continue
        entry = compiled.entry
        if mismatch(entry.on, exchange, tool=result.name) is not None:
            continue
        if (elsewhere := _elsewhere(entry, result.name, "result", state)) is not None:
            decisions.extend(_passed_over(entry, subject, elsewhere))
            continue
        decision = _judge(compiled, subject, exchange, dice, state)
        if taken and decision.verb == "fire":
            decision = replace(decision, verb="skip", reason="another fault already replaced this result")
        taken = taken or decision.verb == "fire"
        decisions.append(decision)
    return Plan(tuple(decisions))


def _own_site(exchange: Exchange) -> Own | None:
    """The site at which this exchange calls a tool, None where it calls none."""
    site = tool_site(exchange)
    return site.name if site is not None else None


def _off_site(on: On, exchange: Exchange) -> bool:
    """Is a site wanted that this exchange, which calls no tool, is not at? What is said in MCP around the
    calls, such as the list of tools, is at its site."""
    return on.sites is not None and ("mcp" not in on.sites or exchange.protocol != mcp.Mcp.name)


def _elsewhere(
    entry: Entry, tool: str | None, at: Own | Literal["result"], state: SessionState
) -> str | None:
    """Why an entry about a tool does not act at this site of it: nothing to say (empty) where the profile
    wants another one, or a reason; None where it acts here.

    A tool may be seen at several sites, of which each holds the next: the agent calls it by MCP, the
    server behind that calls an HTTP service, and the result goes to the model. The fault acts at one.
    """
    wanted = entry.on.sites
    if wanted is not None:
        return None if at in wanted else ""
    if tool is None or (entry.on.tool is None and not isinstance(entry.fault, ResultFault)):
        return None
    seen = state.seen_at(tool)
    return None if seen in (None, at) else f"tool `{tool}` is seen at its `{seen}` site in this session"


def _passed_over(entry: Entry, subject: Subject, why: str) -> Iterator[Decision]:
    if why:
        yield Decision(entry, subject, "skip", why, counted=False)


def _judge(
    compiled: CompiledEntry, subject: Subject, exchange: Exchange, dice: Dice, state: SessionState
) -> Decision:
    entry = compiled.entry
    if state.only is not None and state.only != exchange.number:
        return Decision(entry, subject, "skip", "the fault is for another exchange", counted=False)
    why_not = compiled.inapplicable(exchange)
    if why_not is not None:
        return Decision(entry, subject, "inapplicable", why_not, counted=False)
    call = judge(compiled, subject, exchange, dice, state)
    verb, reason, unit = call
    if verb == "fire" and not attempt_fires(compiled.attempts, subject.attempt):
        verb, reason = "skip", f"attempt {subject.attempt} is let through"
    return Decision(entry, subject, verb, reason, unit, True, call, exchange.at_s)
