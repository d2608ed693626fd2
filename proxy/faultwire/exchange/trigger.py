"""Does a trigger fire on a call? Conditions without chance come first: a call that is not counted in takes
no roll of the dice."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from faultwire.dice import Dice
    from faultwire.events import Exchange
    from faultwire.exchange.session_state import Judgement, SessionState, Subject
    from faultwire.profile.entry_model import CompiledEntry, Stage


def judge(
    entry: CompiledEntry, subject: Subject, exchange: Exchange, dice: Dice, state: SessionState
) -> Judgement:
    """The judgement on a logical call; its attempts share it."""
    if subject.attempt:  # only a retry may have been judged before
        judged = _again(entry, subject, state)
        if judged is not None:
            return judged
    return _triggered(entry, subject, exchange, dice, state)


def chance_of(entry: CompiledEntry, subject: Subject, exchange: Exchange) -> tuple[str, int]:
    """What the dice of an entry depend on besides the seed: a key and a count.

    An attack on the conversation depends on its texts and on nothing else of the call. Equal histories
    are attacked alike, however many requests hold them and in whatever order these come.
    """
    if entry.conversation and exchange.history:
        return exchange.history, 0
    return subject.key, subject.n


def _again(entry: CompiledEntry, subject: Subject, state: SessionState) -> Judgement | None:
    """The judgement on an earlier attempt of this call. One that came to nothing has lost its place."""
    judged = state.decided(entry.id, subject)
    if judged is None or judged[0] != "fire" or not state.slot_released(entry.id, subject):
        return judged
    why_not = _used_up(entry, state.counts(entry.id)[1])
    return judged if why_not is None else ("skip", why_not, judged[2])


def _used_up(t: CompiledEntry, fired: int) -> str | None:
    most = t.max_times
    if most is None or fired < most:
        return None
    return f"fired {fired} of at most {most} time{'s' * (most != 1)}"


def _triggered(
    t: CompiledEntry, subject: Subject, exchange: Exchange, dice: Dice, state: SessionState
) -> Judgement:
    """Conditions without chance first: a skipped trigger consumes no roll."""
    seen, fired = state.counts(t.id)
    call = seen + 1
    why_not = _closed(t, call, exchange.at_s)
    if why_not is None and t.recover_after is not None:
        why_not = _recovered(t, call, exchange.at_s, state.begun(t.id))
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
    unit = dice.roll(t.id, *chance_of(t, subject, exchange))
    if unit < share:
        return "fire", f"rolled under {share}{where}", unit
    return "skip", f"rolled {share}{where} or more", unit


def _closed(t: CompiledEntry, call: int, at_s: float) -> str | None:
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


def _recovered(t: CompiledEntry, call: int, at_s: float, begun: tuple[int, float] | None) -> str | None:
    """Why the outage that began then is over, or None."""
    if t.recover_after is None or begun is None:
        return None
    first, since = begun
    if t.recover_after.calls is not None and call >= first + t.recover_after.calls:
        calls = t.recover_after.calls
        return f"recovered after {calls} call{'s' * (calls != 1)}"
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


def attempt_fires(attempts: Literal["all", "first"] | int, attempt: int) -> bool:
    """Does a decision to fire hold for this attempt of its call, counted from 0?"""
    if attempts == "all":
        return True
    return attempt < (1 if attempts == "first" else int(attempts))
