"""A ramp as one document, in a terminal of 60 columns, and as a page with its curves."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from faultwire.contract.statistics import compare
from faultwire.load.knee import METHOD
from faultwire.load.measure import quantile
from faultwire.load.shape import Load
from faultwire.report.html import environment
from faultwire.report.text import line
from faultwire.text import counted

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from faultwire.load.knee import Knee
    from faultwire.load.measure import Invocation, Level
    from faultwire.load.races import Races

FORMAT = "faultwire.load/1"
WIDTH, HEIGHT, EDGE = 560, 200, 40
"""Of a curve, in pixels, with the room for its labels."""


def document(
    about: Mapping[str, Any],
    levels: Sequence[Level],
    knee: Knee,
    races: Races,
    pressures: Mapping[str, Sequence[Invocation]],
) -> dict[str, Any]:
    """Everything, checked against its own shape."""
    alone = next((one.invocations for one in levels if one.level == 1), ())
    test = races.test
    made = {
        "format": FORMAT,
        **about,
        "levels": [_level(one) for one in levels],
        "knee": {
            "at": knee.at, "low": knee.low, "high": knee.high, "slope": knee.slope, "capacity": knee.capacity,
            "reason": knee.reason, "method": METHOD,
        },
        "races": {
            "found": races.found,
            "p_value": test.p_value if test else None,
            "difference": test.difference if test else None,
            "low": test.low if test else None,
            "high": test.high if test else None,
            "suspects": [
                {
                    "cell": one.cell, "alone": one.alone, "beside": one.beside, "again": one.again,
                    "holds": one.holds, "reference": one.reference,
                    "failures": [
                        {
                            "session": each.session, "level": each.level, "reason": each.reason,
                            "beside": list(by),
                        }
                        for each, by in zip(one.failures, one.overlapping, strict=True)
                    ],
                }
                for one in races.suspects
            ],
        },
        "pressures": [_pressed(name, some, alone) for name, some in pressures.items()],
    }  # fmt: skip
    return Load.model_validate(made).model_dump(mode="json")


def _level(one: Level) -> dict[str, Any]:
    passed = one.budget.passed
    return {
        "level": one.level,
        "planned": one.planned,
        "runs": len(one.invocations),
        "whole": one.whole,
        "throughput_per_s": one.throughput,
        "latency_s": dict(zip(("p50", "p95", "p99"), one.quantiles, strict=True)) if one.quantiles else None,
        "timeouts": one.timeouts,
        "unknown": one.unknown,
        "budget": {
            "failed": one.budget.failed,
            "judged": one.budget.total,
            "allowed": one.budget.allowed,
            "burn": one.budget.burn,
            "overspent": one.budget.overspent,
            "pass_rate": passed.value if passed else None,
            "low": passed.low if passed else None,
            "high": passed.high if passed else None,
        },
    }


def _pressed(name: str, some: Sequence[Invocation], alone: Sequence[Invocation]) -> dict[str, Any]:
    now, before = _counts(some), _counts(alone)
    test = compare(now, before) if now[1] and before[1] else None
    worse = test is not None and test.verdict == "significant" and (test.difference or 0) < 0
    return {
        "pressure": name,
        "runs": len(some),
        "passed": now[0],
        "p_value": test.p_value if test else None,
        "verdict": "not judged" if test is None else "worse" if worse else "not significant",
        "p50": quantile([one.seconds for one in some], 0.5) if some else None,
    }


def _counts(some: Sequence[Invocation]) -> tuple[int, int]:
    judged = [one for one in some if one.verdict != "unknown"]
    return sum(one.verdict == "pass" for one in judged), len(judged)


# ---------------------------------------------------------------- for people


def knee_words(found: Mapping[str, Any]) -> str:
    """The knee in words."""
    knee = found["knee"]
    if knee["at"] is None:
        return str(knee["reason"])
    return (
        f"knee at {knee['at']:.1f} at once (95 % interval {knee['low']:.1f} to {knee['high']:.1f}), "
        f"capacity {knee['capacity']:.2f}/s"
    )


def race_words(found: Mapping[str, Any]) -> Iterator[str]:
    """Races in words."""
    races = found["races"]
    holding = [one for one in races["suspects"] if one["holds"]]
    if races["found"]:
        yield f"race: {counted(len(holding), 'cell')} failed only beside others (p = {races['p_value']:.2g})"
    elif races["suspects"]:
        yield f"{counted(len(races['suspects']), 'cell')} failed beside others only: not significant"
    elif races["p_value"] is None:
        yield "verdicts alone and beside others were not compared"
    else:
        yield "no verdict differs only beside others"
    for one in races["suspects"]:
        yield (
            f"  cell {one['cell']}: alone {_of(one['alone'])} passed, beside {_of(one['beside'])}, "
            f"alone again {_of(one['again'])}"
        )
        for failure in one["failures"][:1]:
            yield f"    {failure['session']}: {line(failure['reason'])}"
            yield f"    beside {', '.join(failure['beside'][:2]) or 'nothing that was recorded'}"


def _of(pair: Sequence[int]) -> str:
    return f"{pair[0]} of {pair[1]}"


def lines(found: Mapping[str, Any]) -> Iterator[str]:
    """For a terminal; figures fit into 60 columns, sentences are wrapped by whoever prints them."""
    yield f"{'at once':>7} {'runs':>5} {'per s':>7} {'p50 s':>7} {'p95 s':>7} {'failed':>7} {'budget':>7}"
    for one in found["levels"]:
        yield _row(one)
    yield knee_words(found)
    if found["ended"] != "levels":
        option = "--max-runs" if found["ended"] == "runs" else "--max-time"
        yield f"ended early by {option}; a + marks a level that is not whole"
    yield from race_words(found)
    for one in found["pressures"]:
        yield f"{one['pressure']}: {one['passed']} of {one['runs']} passed, {one['verdict']}"
    yield f"a run is a failure where {line(found['failing'])}"


def _row(one: Mapping[str, Any]) -> str:
    budget, latency = one["budget"], one["latency_s"]
    burn = "–" if budget["burn"] is None else f"{100 * budget['burn']:.0f} %"
    runs = f"{one['runs']}{'' if one['whole'] else '+'}"
    if latency is None:
        return f"{one['level']:>7} {runs:>5}"
    return (
        f"{one['level']:>7} {runs:>5} {one['throughput_per_s']:>7.2f} {latency['p50']:>7.2f} "
        f"{latency['p95']:>7.2f} {budget['failed']:>7} {burn:>7}"
    )


def page(found: Mapping[str, Any]) -> str:
    """The report as a page without script."""
    measured = [one for one in found["levels"] if one["latency_s"] is not None]
    through = [(one["level"], one["throughput_per_s"]) for one in measured]
    curves = [
        ("throughput, invocations a second", [("per s", curve(through, through))]),
        (
            "latency, seconds",
            [
                (name, curve([(one["level"], one["latency_s"][name]) for one in measured],
                             [(one["level"], one["latency_s"]["p95"]) for one in measured]))
                for name in ("p50", "p95")
            ],
        ),
    ]  # fmt: skip
    knee = found["knee"]
    band = None
    if knee["at"] is not None and measured:
        top = measured[-1]["level"]
        band = (_x(knee["low"], top), _x(knee["high"], top), _x(knee["at"], top))
    return (
        environment()
        .get_template("load.html.j2")
        .render(
            doc=found, curves=curves, band=band, knee=knee_words(found), races=list(race_words(found)),
            width=WIDTH, height=HEIGHT, edge=EDGE,
        )
    )  # fmt: skip


def curve(points: Sequence[tuple[int, float]], scale: Sequence[tuple[int, float]]) -> list[dict[str, Any]]:
    """Points of a curve in a picture from zero to the highest of `scale`, each with its label."""
    top, most = max((n for n, _ in scale), default=1), max((value for _, value in scale), default=0) or 1
    return [
        {"x": _x(n, top), "y": round(HEIGHT - EDGE - (HEIGHT - 2 * EDGE) * value / most, 1), "n": n,
         "label": f"{value:.2f}"}
        for n, value in points
    ]  # fmt: skip


def _x(level: float, top: int) -> float:
    return round(EDGE + (WIDTH - 2 * EDGE) * level / top, 1)
