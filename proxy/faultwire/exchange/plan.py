"""Which faults apply to an exchange, and why the others do not.

Pure: `decide(profile, dice, exchange, state)` reads the session's state and returns a `Plan`; the
caller writes each decision back with `SessionState.note`. Same arguments, same plan.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Literal

from faultwire.events import FaultFired
from faultwire.exchange.session_state import Subject
from faultwire.faults._api import RequestFault, ResultFault
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
    from faultwire.profile.entry_model import Entry, On, Stage, Trigger
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
        quiet: Outcome = "inapplicable" if self.verb == "inapplicable" else "skipped"
        fault, subject = self.entry.fault, self.subject
        return FaultFired(
            fault=fault.name,
            id=self.entry.id,
            site=self.site or fault.site,
            outcome=outcome or quiet,
            reason=reason or self.reason,
            key=subject.key,
            n=subject.n,
            attempt=subject.attempt,
            unit=self.unit,
            subject=subject.name,
            effect=effect,
            settings=self.entry.settings,
        )


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
    for entry in profile.candidates.of(exchange):
        on, result = entry.on, isinstance(entry.fault, ResultFault)
        if at is None and (result or (on.sites is not None and _off_site(on, exchange))):
            continue
        if not on.settled and mismatch(on, exchange, protocols=entry.fault.protocols) is not None:
            continue
        if at is not None and (elsewhere := _elsewhere(entry, exchange.tool, at, state)) is not None:
            decisions.extend(_passed_over(entry, whole, elsewhere))
        elif needs_response(on):
            deferred.append(entry)
        else:
            decision = _judge(entry, whole, exchange, dice, state)
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


def chance_of(entry: Entry, subject: Subject, exchange: Exchange) -> tuple[str, int]:
    """What the dice of an entry depend on besides the seed: a key and a count.

    An attack on the conversation depends on its texts and on nothing else of the call. Equal histories
    are attacked alike, however many requests hold them and in whatever order these come.
    """
    if isinstance(entry.fault, RequestFault) and exchange.history:
        return exchange.history, 0
    return subject.key, subject.n


def decide_head(plan: Plan, dice: Dice, exchange: Exchange, state: SessionState) -> Plan:
    """The decisions on deferred entries, once `exchange.response` is there."""
    whole = Subject(exchange.key, exchange.n, exchange.attempt, exchange.tool or exchange.agent)
    return Plan(
        tuple(
            _judge(entry, whole, exchange, dice, state)
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
    for entry in profile.candidates.of(exchange, tool=result.name):
        if not isinstance(entry.fault, ResultFault):
            continue
        if mismatch(entry.on, exchange, tool=result.name) is not None:
            continue
        if (elsewhere := _elsewhere(entry, result.name, "result", state)) is not None:
            decisions.extend(_passed_over(entry, subject, elsewhere))
            continue
        decision = _judge(entry, subject, exchange, dice, state)
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


def _judge(entry: Entry, subject: Subject, exchange: Exchange, dice: Dice, state: SessionState) -> Decision:
    if state.only not in (None, exchange.number):
        return Decision(entry, subject, "skip", "the fault is for another exchange", counted=False)
    why_not = entry.fault.inapplicable(exchange)
    if why_not is not None:
        return Decision(entry, subject, "inapplicable", why_not, counted=False)
    # Only a retry may have been judged before.
    call = (_again(entry, subject, state) if subject.attempt else None) or _trigger(
        entry, subject, exchange, dice, state
    )
    verb, reason, unit = call
    if verb == "fire" and not _attempt_fires(entry.trigger.attempts, subject.attempt):
        verb, reason = "skip", f"attempt {subject.attempt} is let through"
    return Decision(entry, subject, verb, reason, unit, True, call, exchange.at_s)


def _again(entry: Entry, subject: Subject, state: SessionState) -> Judgement | None:
    """The judgement on an earlier attempt of this call. One that came to nothing has lost its place."""
    judged = state.decided(entry.id, subject)
    if judged is None or judged[0] != "fire" or not state.slot_released(entry.id, subject):
        return judged
    why_not = _used_up(entry.trigger, state.counts(entry.id)[1])
    return judged if why_not is None else ("skip", why_not, judged[2])


def _used_up(t: Trigger, fired: int) -> str | None:
    most = t.max_times
    if most is None or fired < most:
        return None
    return f"fired {fired} of at most {most} time{'s' * (most != 1)}"


def _trigger(
    entry: Entry, subject: Subject, exchange: Exchange, dice: Dice, state: SessionState
) -> Judgement:
    """Conditions without chance first: a skipped trigger consumes no roll."""
    t = entry.trigger
    seen, fired = state.counts(entry.id)
    call = seen + 1
    why_not = _closed(t, call, exchange.at_s)
    if why_not is None and t.recover_after is not None:
        why_not = _recovered(t, call, exchange.at_s, state.begun(entry.id))
    if why_not is None and t.max_times is not None:
        why_not = _used_up(t, fired)
    if why_not is not None:
        return "skip", why_not, None
    stage, share = (None, t.probability) if t.stages is None else _stage(t.stages, call)
    if stage is not None and share is None:
        return "skip", f"call {call} is past the last stage", None
    where = "" if stage is None else f" of stage {stage}"
    if share is None:
        return "fire", f"call {call} matches", None
    unit = dice.roll(entry.id, *chance_of(entry, subject, exchange))
    if unit < share:
        return "fire", f"rolled under {share}{where}", unit
    return "skip", f"rolled {share}{where} or more", unit


def _closed(t: Trigger, call: int, at_s: float) -> str | None:
    """Why this call is not among those that the trigger counts out, or None."""
    if t.between_s is not None and not t.between_s[0] <= at_s < t.between_s[1]:
        return f"{at_s:.1f} s is not between {t.between_s[0]:g} and {t.between_s[1]:g} s"
    if t.after_calls is not None and call <= t.after_calls:
        return f"call {call} of the first {t.after_calls} passes"
    if t.first is not None and call > t.first:
        return f"call {call} is past the first {t.first}"
    if t.calls is not None and call not in t.calls:
        return f"call {call} is none of {', '.join(map(str, t.calls))}"
    if t.every is not None and (call - (t.after_calls or 0)) % t.every:
        return f"call {call} is not one in {t.every}"
    return None


def _recovered(t: Trigger, call: int, at_s: float, begun: tuple[int, float] | None) -> str | None:
    """Why the outage that began then is over, or None."""
    if t.recover_after is None or begun is None:
        return None
    first, since = begun
    if t.recover_after.calls is not None and call >= first + t.recover_after.calls:
        return f"recovered after {t.recover_after.calls} call{'s' * (t.recover_after.calls != 1)}"
    if t.recover_after.s is not None and at_s >= since + t.recover_after.s:
        return f"recovered after {t.recover_after.s:g} s"
    return None


def _stage(stages: tuple[Stage, ...], call: int) -> tuple[int, float | None]:
    """The stage, from 1, that a call falls into, and its share; no share after the last."""
    end = 0
    for number, stage in enumerate(stages, 1):
        if stage.for_calls is None:
            return number, stage.probability
        end += stage.for_calls
        if call <= end:
            return number, stage.probability
    return len(stages), None


def _attempt_fires(attempts: Literal["all", "first"] | int, attempt: int) -> bool:
    if attempts == "all":
        return True
    return attempt < (1 if attempts == "first" else int(attempts))
