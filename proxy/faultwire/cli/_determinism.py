"""`exec --check-determinism`: is a second run with the same seed the same run, and if not, why?"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from faultwire.text import counted, safe

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from faultwire.events import Recorded
    from faultwire.replay.cause import Cause
    from faultwire.replay.compare import Compared
    from faultwire.replay.explain_miss import Divergence

WITHIN: Literal["order within a call"] = "order within a call"
ADVICE: dict[Cause | Literal["order within a call"], str] = {
    "order": "threads or tasks race, or a set is walked through; --any-order accepts calls in another order",
    WITHIN: "a call holds the same values in another order: sort what is walked through or gathered, or "
    "ignore the place with --mask; --any-order is about the order of calls",
    "clock": "the program sends the time: freeze its clock (--freeze-time), or ignore the place (--mask)",
    "random value": "the program sends a value of its own chance: seed it, or ignore the place with --mask",
    "model answer": "the model answers otherwise: give both runs the same answers with --replay or --mock",
    "server answer": "a server answers otherwise: give both runs the same answers with --replay",
    "fault": "a trigger counts calls or time (calls, first, every, after_calls, max_times, stages, "
    "recover_after, between_s), and these came otherwise",
    "code": "the program asks otherwise: a random choice, a race, or what the first run left behind",
}
"""What makes two runs differ, and what helps."""


@dataclass(frozen=True, slots=True)
class Played:
    """One run: its tape, its ledger's hash, and the exit code of the command as a shell gives it."""

    tape: Path
    ledger: str
    code: int


@dataclass(frozen=True, slots=True)
class Difference:
    """Why two runs are not the same, in words, and where; `call` is the ordinal of the call in the second
    run, from 1, and 0 where it has none."""

    cause: Cause | Literal["order within a call"]
    reason: str
    call: int = 0
    divergence: Divergence | None = None


@dataclass(frozen=True, slots=True)
class Determinism:
    """Two runs compared: the calls that are the same, and the first difference."""

    same: int
    difference: Difference | None = None
    reordered: int = 0
    """The first call that came in another order, where that is accepted; 0 where none did."""


def compared(first: Played, other: Played, masks: tuple[str, ...], *, any_order: bool) -> Determinism:
    """Compare two runs: what was asked, sent on and answered, the order of calls, the faults, and the exit
    codes. Raises TapeError where a tape cannot be read."""
    free, strict = (_compared(first.tape, other.tape, masks, strict=strict) for strict in (False, True))
    if free.divergence is not None:
        return Determinism(free.same, _of(free), 0 if free.same <= strict.same else strict.same + 1)
    reordered = 0 if strict.divergence is None else strict.same + 1
    if reordered and not any_order:
        return Determinism(strict.same, _of(strict))
    # The ledger's hash counts the calls of a trigger in the order in which they came, and names none of them.
    if first.ledger != other.ledger or (reordered and not _same_faults(first.tape, other.tape, masks)):
        return Determinism(free.same, Difference("fault", "the same calls had other faults"), reordered)
    if first.code != other.code:
        reason = f"the command exited {first.code} and then {other.code} after the same calls"
        return Determinism(free.same, Difference("code", reason), reordered)
    return Determinism(free.same, None, reordered)


def _compared(one: Path, other: Path, masks: tuple[str, ...], *, strict: bool) -> Compared:
    from faultwire.replay.compare import compare
    from faultwire.replay.reader import index, open_tape

    with open_tape(one) as first, open_tape(other) as second:
        sent_on = (first.all_forwarded(), second.all_forwarded())
        return compare(index(first, masks, strict_order=strict), second.exchanges(), sent_on)


def _same_faults(one: Path, other: Path, masks: tuple[str, ...]) -> bool:
    """Did each call of two runs that made the same calls have the same faults in both?"""
    from faultwire.replay.match import Missed
    from faultwire.replay.reader import index, open_tape

    with open_tape(one) as first, open_tape(other) as second:
        calls = index(first, masks)
        for recorded in second.exchanges():
            found = calls.take(calls.ask(recorded.request))
            if not isinstance(found, Missed) and _fired(found.recorded) != _fired(recorded):
                return False
    return True


def _fired(recorded: Recorded) -> list[tuple[str, str | None]]:
    return [(fault.id, fault.effect) for fault in recorded.faults if fault.outcome == "fired"]


def _of(found: Compared) -> Difference:
    divergence = found.divergence
    assert divergence is not None
    call = 0 if divergence.kind == "missing call" else found.same + 1
    within = divergence.cause == "order" and divergence.kind != "order"
    return Difference(WITHIN if within else divergence.cause, divergence.reason, call, divergence)


def lines(found: Determinism, runs: int, seed: int) -> Iterator[str]:
    """The verdict for a terminal."""
    if found.difference is None:
        played, calls = counted(runs, "run"), counted(found.same, "call")
        yield f"determinism: same: {played} with seed {seed} made the same {calls} and had the same faults"
        if found.reordered:
            yield f"  from call {found.reordered} on, calls came in another order"
        return
    difference, divergence = found.difference, found.difference.divergence
    yield f"determinism: different: {difference.cause}"
    if divergence is None:
        yield safe(f"  {difference.reason}")
    else:
        which = f"call {difference.call}" if difference.call else "a call is missing"
        yield safe(f"  {which}: {divergence.method} {divergence.url}: {difference.reason}")
        for place in divergence.differences:
            yield safe(f"    {place.path}")
            yield safe(f"      - {place.recorded}")
            yield safe(f"      + {place.asked}")
    if found.reordered:
        yield f"  from call {found.reordered} on, calls came in another order"
    yield f"  {ADVICE[difference.cause]}"


def verdict(played: Sequence[Played], masks: tuple[str, ...], *, any_order: bool) -> Determinism:
    """The first run against each other one: the first that differs, else the last."""
    found = Determinism(0)
    for other in played[1:]:
        found = compared(played[0], other, masks, any_order=any_order)
        if found.difference is not None:
            break
    return found
