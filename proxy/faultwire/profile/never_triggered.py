"""Why a trigger never fires: its parts exclude each other, or let no call through."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from faultwire.profile.entry_model import Trigger
    from faultwire.profile.words import Problem

_EXCLUSIVE = (
    ("first", "after_calls"),
    ("calls", "first"),
    ("calls", "after_calls"),
    ("calls", "every"),
    ("stages", "probability"),
)
NO_CHANCE = "found no chance above 0 for `{}`, which never fires"


def trigger_problems(trigger: Trigger) -> Iterator[Problem]:
    """Everything that is wrong with a trigger, but for a chance of nothing."""
    found = False
    for problem in (*_exclusive(trigger), *_malformed(trigger)):
        found = True
        yield problem
    if not found and not has_call(trigger):
        keys = [key for key in ("stages", "calls", "first", "every", "after_calls") if _given(trigger, key)]
        listed = "`, `".join(keys[1:])
        yield (
            f"trigger.{keys[0]}",
            f"found `{keys[0]}` with `{listed}`, which let no call through together",
            f"change one of `{'`, `'.join(keys)}` so that they have a call in common",
        )


def no_chance(trigger: Trigger) -> str | None:
    """The key that gives every call a chance of 0; None where there is a chance."""
    if trigger.stages:
        return "stages" if all(stage.probability == 0 for stage in trigger.stages) else None
    return "probability" if trigger.probability == 0 else None


def _given(trigger: Trigger, key: str) -> bool:
    return getattr(trigger, key) is not None


def _exclusive(trigger: Trigger) -> Iterator[Problem]:
    for key, other in _EXCLUSIVE:
        if _given(trigger, key) and _given(trigger, other):
            message = f"found `{key}` with `{other}`, expected one of them"
            yield f"trigger.{key}", message, f"remove `{key}` or `{other}`"


def _malformed(trigger: Trigger) -> Iterator[Problem]:
    for key in ("calls", "stages"):
        if getattr(trigger, key) == ():
            message = f"found an empty list for `{key}`, which never fires"
            yield f"trigger.{key}", message, f"remove `{key}`, or say when it fires"
    between, recovery = trigger.between_s, trigger.recover_after
    if between is not None and not between[0] < between[1]:
        message = f"found {between[0]:g} to {between[1]:g} for `between_s`, expected a span of time"
        yield "trigger.between_s", message, "the first number is the smaller one"
    if recovery is not None and (recovery.calls is None) == (recovery.s is None):
        message = "found neither or both of `calls` and `s`, expected one"
        yield "trigger.recover_after", message, "`recover_after: {calls: 3}` or `recover_after: {s: 20}`"
    if any(stage.for_calls is None for stage in (trigger.stages or ())[:-1]):
        message = "found a stage without `for_calls` before the last, expected its length"
        yield "trigger.stages", message, "only the last stage may go on for ever"


def has_call(trigger: Trigger) -> bool:
    """Is there an ordinal of a call, from 1, that the counting conditions let through?"""
    if trigger.calls is not None:
        return any(_in_stage(trigger, call) for call in trigger.calls)
    after, every = trigger.after_calls or 0, trigger.every or 1
    for first, last in _spans(trigger):
        low = max(first, after + 1)
        call = after + -(-(low - after) // every) * every
        high = min((end for end in (last, trigger.first) if end is not None), default=None)
        if high is None or call <= high:
            return True
    return False


def _spans(trigger: Trigger) -> Iterator[tuple[int, int | None]]:
    """The first and the last call of each span that a stage gives a chance; without stages, all calls. A
    chance of 0 is another problem, where there is no other."""
    if trigger.stages is None:
        yield 1, None
        return
    begin, hopeless = 1, no_chance(trigger) is not None
    for stage in trigger.stages:
        end = None if stage.for_calls is None else begin + stage.for_calls - 1
        if stage.probability > 0 or hopeless:
            yield begin, end
        if end is None:
            return
        begin = end + 1


def _in_stage(trigger: Trigger, call: int) -> bool:
    return any(first <= call and (last is None or call <= last) for first, last in _spans(trigger))
