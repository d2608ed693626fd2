"""The finding of an audit in words, and as JSON."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from faultwire.text import counted, safe

if TYPE_CHECKING:
    from collections.abc import Iterator

    from faultwire.audit.compare_runs import Difference
    from faultwire.audit.finding import Class, Finding, Tried

ADVICE: dict[Class, str] = {
    "clock": "freeze its clock (--freeze-time), or ignore the place (--mask)",
    "random": "seed its chance (of Python's sets: PYTHONHASHSEED), or ignore the place with --mask",
    "order": "accept calls in another order (--any-order), or collect answers in the order of the calls",
    "model": "give all runs the same answers: --replay, or --mock",
    "code": "the files that the command names are others than in the earlier run",
    "environment": "give each run the same folder and servers: reset what it writes, replay what it reads",
    "fault": "a trigger counts calls or time (calls, first, every, after_calls, max_times, stages, "
    "recover_after, between_s), and these came otherwise",
    "unknown": "",
}
"""What helps."""


def lines(found: Finding, seed: int) -> Iterator[str]:
    """For a terminal."""
    if found.interrupted:
        yield from _interrupted(found)
        return
    if found.cause is None:
        runs = f"{counted(found.runs, 'run')} with seed {seed}"
        yield f"audit: same: {runs} made the same calls and exited with {found.code}"
        return
    first = found.first
    assert first is not None
    yield f"audit: {steadiness(found)}: {found.cause}"
    yield from _where(first)
    if found.source and found.source != first.call:
        yield f"  the value comes from the answer of exchange {found.source}"
    yield from (f"  {_tried(one)}" for one in found.tried)
    if found.cause == "environment" and not any(_shows(one) for one in found.tried):
        yield from _environment(found)
    if found.settled:
        yield from _settled(found)
    elif found.cause == "unknown":
        yield from _unknown(found)
    if found.behind is not None:
        yield "  with that held fixed, another difference shows:"
        yield from _where(found.behind)
    yield f"  {counted(found.runs, 'run')}; with nothing fixed, {found.rate:.0%} of pairs differed"
    if ADVICE[found.cause]:
        yield f"  {ADVICE[found.cause]}"


def _interrupted(found: Finding) -> Iterator[str]:
    """What is known so far."""
    so_far = "the cause is not known yet" if found.first else "no two runs differed so far"
    yield f"audit: interrupted after {counted(found.runs, 'run')}: {so_far}"
    if found.first is not None:
        yield from _where(found.first)
    yield from (f"  {_tried(one)}" for one in found.tried)


def steadiness(found: Finding) -> str:
    """`flaky` where runs of now differ; `changed` where they agree, and only the earlier run differs."""
    return "flaky" if found.rate else "changed"


def _shows(one: Tried) -> bool:
    return one.condition == "fresh folder" and one.word == "agree"


def _environment(found: Finding) -> Iterator[str]:
    first = found.first
    if first is not None and (first.what == "answer" or found.source):
        yield "  the answer of a server differs"
    elif found.rate == 0:
        yield "  the program's files are the same as in the earlier run"
    elif not found.settled:
        yield "  the value grows by the same step in each run, as a counter outside of the folder does"


def _settled(found: Finding) -> Iterator[str]:
    yield "  after some runs all agree, with nothing fixed"
    if found.cause == "environment":
        yield "  in the folder as it was they differ again: earlier runs have left something in it"
    else:
        yield "  what made them differ has passed, and the folder as it was does not bring it back"


def _unknown(found: Finding) -> Iterator[str]:
    """What was not ruled out. What could not be tried stands among the conditions."""
    if found.rate == 0:
        yield from (f"  unknown without: {one}" for one in found.missing)
        return
    yield "  nothing that was held fixed makes runs agree; not ruled out:"
    if found.missing:
        yield "  - what could not be held fixed, as said above"
    yield "  - what a program reads of its machine: process ids, load, free memory, the monotonic clock"
    yield "  - files outside of the folder, and servers that it asks past the proxy"
    yield "  - chance that comes neither from Python's nor from Node's own functions"


def _where(first: Difference) -> Iterator[str]:
    where = f"call {first.call}" if first.call else "a call is missing" if first.what == "missing" else "runs"
    yield safe(f"  {where}: {first.reason}")
    if first.field:
        yield safe(f"    {first.field}")
        yield safe(f"      - {first.values[0]}")
        yield safe(f"      + {first.values[1]}")


def _tried(one: Tried) -> str:
    if one.word == "untried":
        return f"{one.condition}: could not be tried: {one.why}"
    if one.why:
        return f"{one.condition}: ruled out: {one.why}"
    return f"{one.condition}: {counted(one.runs, 'run')} {one.word}"


def as_json(found: Finding) -> dict[str, Any]:
    """For programs."""
    return {
        "cause": found.cause,
        "word": None if found.cause is None else steadiness(found),
        "first": None if found.first is None else _json(found.first),
        "source": found.source or None,
        "tried": [
            {"condition": one.condition, "runs": one.runs, "result": one.word, "why": one.why}
            for one in found.tried
        ],
        "behind": None if found.behind is None else _json(found.behind),
        "missing": list(found.missing),
        "exit_code": found.code,
        "settled": found.settled,
        "interrupted": found.interrupted,
        "runs": found.runs,
        "share_of_pairs": round(found.rate, 4),
    }


def _json(first: Difference) -> dict[str, Any]:
    return {
        "what": first.what, "call": first.call or None, "field": first.field or None, "reason": first.reason,
        "recorded": first.values[0], "asked": first.values[1],
    }  # fmt: skip
