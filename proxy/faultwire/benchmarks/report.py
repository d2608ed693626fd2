"""A benchmark's numbers in words, and as JSON."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from faultwire.benchmarks import validity
from faultwire.benchmarks.score import Control, Score, control, score
from faultwire.text import counted, safe

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from faultwire.benchmarks.plan import Outcome
    from faultwire.contract.statistics import Measured

NAMED = 5
"""Pairs that are named, of each sort."""
FIELDS = ("utility", "utility_under_attack", "attack_success")
WORDS = {
    "utility": "utility",
    "utility_under_attack": "utility under attack",
    "attack_success": "attack success rate",
}


def document(outcomes: Sequence[Outcome], about: Mapping[str, Any]) -> dict[str, Any]:
    """Everything, for programs."""
    numbers = score(outcomes)
    return {
        "format": "faultwire.bench/1",
        **about,
        **{name: _rate(getattr(numbers, name)) for name in FIELDS},
        **_validity(outcomes),
        "planned": numbers.asked,
        "not_reached": numbers.not_reached,
        "not_carried": numbers.not_carried,
        "inconclusive": numbers.void,
        "controls": {one.agent: _control(one) for one in controls(outcomes)},
        "outcomes": [one.document() for one in outcomes],
    }


def controls(outcomes: Sequence[Outcome]) -> tuple[Control, Control]:
    """The victim and the deaf one."""
    return control(outcomes, "victim"), control(outcomes, "deaf")


def inconclusive(outcomes: Sequence[Outcome]) -> str | None:
    """Why the numbers say nothing, or None."""
    victim, deaf = controls(outcomes)
    if not victim.holds or victim.obeyed == 0:
        return f"the positive control does not hold: {_control_words(victim)}"
    if not deaf.holds:
        return f"the negative control does not hold: {_control_words(deaf)}"
    numbers = score(outcomes)
    if numbers.attack_success is None:
        return f"none of {counted(numbers.asked, 'attack')} reached the agent in a run that can be judged"
    return None


def lines(outcomes: Sequence[Outcome], title: str) -> Iterator[str]:
    """The numbers for people."""
    numbers = score(outcomes)
    yield safe(title)
    for name in FIELDS:
        measured = getattr(numbers, name)
        if measured is None and name != "attack_success" and not _useful(outcomes, name):
            yield f"  {WORDS[name]:<22}not defined by this benchmark"
            continue
        yield f"  {WORDS[name]:<22}{_words(measured)}"
    yield from _valid_lines(outcomes)
    yield from _left_out(numbers, [one for one in outcomes if one.agent == "agent"])
    victim, deaf = controls(outcomes)
    yield f"  positive control      {_control_words(victim)}"
    yield f"  negative control      {_control_words(deaf)}"


def _useful(outcomes: Sequence[Outcome], name: str) -> bool:
    """Does the benchmark say of any such task whether it was done? One that was not judged may have been."""
    attacked = name == "utility_under_attack"
    mine = [one for one in outcomes if (one.pair.injection is not None) == attacked]
    return any(one.utility is not None for one in mine) or (attacked and not mine)


def _valid_lines(outcomes: Sequence[Outcome]) -> Iterator[str]:
    if any(one.validity is not None for one in outcomes):
        for name, measured in validity.rates(outcomes).items():
            yield f"    {validity.WORDS[name]:<26}{_words(measured)}"


def _validity(outcomes: Sequence[Outcome]) -> dict[str, Any]:
    if all(one.validity is None for one in outcomes):
        return {}
    return {"validity": {name: _rate(one) for name, one in validity.rates(outcomes).items()}}


def _left_out(numbers: Score, mine: Sequence[Outcome]) -> Iterator[str]:
    if numbers.not_reached:
        yield f"  not judged            {counted(numbers.not_reached, 'attack')} that the agent never read"
    if numbers.not_carried:
        words = counted(numbers.not_carried, "attack")
        yield f"  not judged            {words} that no result can carry:"
        for one in [one for one in mine if one.reach == "not carried"][:NAMED]:
            yield f"    {safe(one.pair.label)}: {safe(one.why)}"
    if numbers.void:
        yield f"  inconclusive          {counted(numbers.void, 'task')}:"
        for one in [one for one in mine if one.void][:NAMED]:
            yield f"    {safe(one.pair.label)}: {safe(one.void)}"


def _words(measured: Measured | None) -> str:
    if measured is None:
        return "nothing was judged"
    low, high = 100 * measured.low, 100 * measured.high
    share = 100 * measured.passed / measured.total
    return f"{share:.1f} % ({measured.passed} of {measured.total}), 95 % interval {low:.1f} to {high:.1f} %"


def _control_words(one: Control) -> str:
    words = f"{one.obeyed} of {one.total} attacks succeeded, expected {one.expected}"
    return f"{words}; wrong: {', '.join(one.wrong[:NAMED])}" if one.wrong else words


def _rate(measured: Measured | None) -> dict[str, Any] | None:
    if measured is None:
        return None
    return {
        "rate": measured.passed / measured.total,
        "count": measured.passed,
        "total": measured.total,
        "low": measured.low,
        "high": measured.high,
        "confidence": measured.confidence,
        "method": measured.method,
    }


def _control(one: Control) -> dict[str, Any]:
    return {"obeyed": one.obeyed, "expected": one.expected, "total": one.total, "wrong": list(one.wrong)}
