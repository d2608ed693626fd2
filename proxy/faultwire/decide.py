"""Which faults apply to an exchange, and why the others do not.

Pure: `decide(profile, dice, exchange, state)` reads the session's state and returns a `Plan`; the
caller writes each decision back with `SessionState.note`. Same arguments, same plan.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

from faultwire.faults._api import SITES, ResultFault
from faultwire.profile.match import mismatch, needs_response, response_mismatch
from faultwire.session import Subject

if TYPE_CHECKING:
    from faultwire.dice import Dice
    from faultwire.events import Exchange, ToolResult
    from faultwire.profile.model import Entry, Profile
    from faultwire.session import Judgement, SessionState, Verb


@dataclass(frozen=True, slots=True)
class Decision:
    """What one entry does to one subject.

    `call` is the judgement on the whole logical call, which its attempts share; `counted` is False
    where the entry could not act at all.
    """

    entry: Entry
    subject: Subject
    verb: Verb
    reason: str
    unit: float | None = None
    counted: bool = True
    call: Judgement = ("skip", "", None)


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
    for entry in composed(profile):
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
    for entry in composed(profile):
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


def composed(profile: Profile) -> list[Entry]:
    """Entries by site (connection first), within a site in file order."""
    return sorted(profile.entries, key=lambda entry: SITES.index(entry.fault.site))


def _judge(entry: Entry, subject: Subject, exchange: Exchange, dice: Dice, state: SessionState) -> Decision:
    why_not = entry.fault.inapplicable(exchange)
    if why_not is not None:
        return Decision(entry, subject, "inapplicable", why_not, counted=False)
    verb, reason, unit = state.decided(entry.id, subject) or _trigger(entry, subject, dice, state)
    let_through = verb == "fire" and not _attempt_fires(entry.trigger.attempts, subject.attempt)
    effective: Verb = "skip" if let_through else verb
    why = f"attempt {subject.attempt} is let through" if let_through else reason
    return Decision(entry, subject, effective, why, unit, call=(verb, reason, unit))


def _trigger(entry: Entry, subject: Subject, dice: Dice, state: SessionState) -> Judgement:
    """Conditions without chance first: a skipped trigger consumes no roll."""
    t = entry.trigger
    seen, fired = state.counts(entry.id)
    call = seen + 1
    if t.after_calls is not None and call <= t.after_calls:
        return "skip", f"call {call} of the first {t.after_calls} passes", None
    if t.first is not None and call > t.first:
        return "skip", f"call {call} is past the first {t.first}", None
    if t.max_times is not None and fired >= t.max_times:
        return "skip", f"fired {fired} of at most {t.max_times} times", None
    if t.probability is None:
        return "fire", f"call {call} matches", None
    unit = dice.roll(entry.id, subject.key, subject.n)
    if unit < t.probability:
        return "fire", f"rolled {unit:.4f}, under {t.probability}", unit
    return "skip", f"rolled {unit:.4f}, not under {t.probability}", unit


def _attempt_fires(attempts: Literal["all", "first"] | int, attempt: int) -> bool:
    if attempts == "all":
        return True
    return attempt < (1 if attempts == "first" else int(attempts))
