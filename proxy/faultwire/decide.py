"""Which faults apply to an exchange, and why the others do not.

Pure: `decide(profile, dice, exchange, state)` reads the session's state and returns a `Plan`; the
caller writes each decision back with `SessionState.note`. Same arguments, same plan.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

from faultwire.events import FaultFired
from faultwire.faults._api import ResultFault
from faultwire.profile.match import mismatch, needs_response, response_mismatch
from faultwire.session import Subject

if TYPE_CHECKING:
    from faultwire.dice import Dice
    from faultwire.events import Exchange, Outcome, ToolResult
    from faultwire.profile.model import Entry, Profile, Stage, Trigger
    from faultwire.session import Judgement, SessionState, Verb


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

    def line(
        self, outcome: Outcome | None = None, reason: str | None = None, effect: str | None = None
    ) -> FaultFired:
        """The line of the ledger for it; without an outcome, for one that does not act."""
        quiet: Outcome = "inapplicable" if self.verb == "inapplicable" else "skipped"
        fault, subject = self.entry.fault, self.subject
        return FaultFired(
            fault=fault.name,
            id=self.entry.id,
            site=fault.site,
            outcome=outcome or quiet,
            reason=reason or self.reason,
            key=subject.key,
            n=subject.n,
            attempt=subject.attempt,
            unit=self.unit,
            subject=subject.name,
            effect=effect,
            settings=fault.model_dump(mode="json", exclude_defaults=True),
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
    whole = Subject(exchange.key, exchange.n, exchange.attempt, exchange.tool)
    decisions: list[Decision] = []
    deferred: list[Entry] = []
    for entry in profile.composed:
        if isinstance(entry.fault, ResultFault):
            continue
        if mismatch(entry.on, exchange) is not None:
            continue
        if needs_response(entry.on):
            deferred.append(entry)
        else:
            decisions.append(_judge(entry, whole, exchange, dice, state))
    return Plan(tuple(decisions), tuple(deferred))


def decide_head(plan: Plan, dice: Dice, exchange: Exchange, state: SessionState) -> Plan:
    """The decisions on deferred entries, once `exchange.response` is there."""
    whole = Subject(exchange.key, exchange.n, exchange.attempt, exchange.tool)
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
    for entry in profile.composed:
        if not isinstance(entry.fault, ResultFault):
            continue
        if mismatch(entry.on, exchange, tool=result.name) is not None:
            continue
        decision = _judge(entry, subject, exchange, dice, state)
        if taken and decision.verb == "fire":
            decision = replace(decision, verb="skip", reason="another fault already replaced this result")
        taken = taken or decision.verb == "fire"
        decisions.append(decision)
    return Plan(tuple(decisions))


def _judge(entry: Entry, subject: Subject, exchange: Exchange, dice: Dice, state: SessionState) -> Decision:
    why_not = entry.fault.inapplicable(exchange)
    if why_not is not None:
        return Decision(entry, subject, "inapplicable", why_not, counted=False)
    verb, reason, unit = state.decided(entry.id, subject) or _trigger(entry, subject, exchange, dice, state)
    let_through = verb == "fire" and not _attempt_fires(entry.trigger.attempts, subject.attempt)
    effective: Verb = "skip" if let_through else verb
    why = f"attempt {subject.attempt} is let through" if let_through else reason
    return Decision(entry, subject, effective, why, unit, call=(verb, reason, unit), at_s=exchange.at_s)


def _trigger(
    entry: Entry, subject: Subject, exchange: Exchange, dice: Dice, state: SessionState
) -> Judgement:
    """Conditions without chance first: a skipped trigger consumes no roll."""
    t = entry.trigger
    seen, fired = state.counts(entry.id)
    call = seen + 1
    why_not = _closed(t, call, exchange.at_s) or _recovered(t, call, exchange.at_s, state.begun(entry.id))
    if why_not is None and t.max_times is not None and fired >= t.max_times:
        why_not = f"fired {fired} of at most {t.max_times} times"
    if why_not is not None:
        return "skip", why_not, None
    stage, share = (None, t.probability) if t.stages is None else _stage(t.stages, call)
    if stage is not None and share is None:
        return "skip", f"call {call} is past the last stage", None
    where = "" if stage is None else f" of stage {stage}"
    if share is None:
        return "fire", f"call {call} matches", None
    unit = dice.roll(entry.id, subject.key, subject.n)
    if unit < share:
        return "fire", f"rolled {unit:.4f}, under {share}{where}", unit
    return "skip", f"rolled {unit:.4f}, not under {share}{where}", unit


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
        return f"recovered after {t.recover_after.calls} calls"
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
