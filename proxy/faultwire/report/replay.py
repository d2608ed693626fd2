"""What a replay served and what it did not: for a terminal, as a page, and as JSON.

The three show the same document, which the run's folder holds as `replay.json`.
"""

from __future__ import annotations

import json
from itertools import groupby
from typing import TYPE_CHECKING, Any

from faultwire.text import counted, safe

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

SHOWN = 10
"""Misses and leftovers that a terminal gets; page and JSON have more."""
IRREGULAR = {
    "order": ("call in another order", "calls in another order"),
    "changed tool arguments": ("call with changed tool arguments", "calls with changed tool arguments"),
    "other request sent on": ("other request sent on", "other requests sent on"),
}
"""What one difference of a class and several are called where that is not its name and an `s`."""
VERSION = "1"
Report = dict[str, Any]
"""What the engine says of a replayed session (`SessionSummary.replay`)."""


def diverged(report: Mapping[str, Any]) -> bool:
    """Was this run another than the one on the tape? Never where misses were meant to go live."""
    fork = report.get("fork")
    if fork and fork["reached"] is None:
        return True
    live = report.get("live")
    if live and not live["calls"]:
        return True
    return report["on_miss"] == "fail" and bool(report["missed"] or report["left"])


def document(report: Mapping[str, Any], *, run: str, command: str, started_at: str) -> Report:
    """The report document; every text in it is redacted."""
    return {
        "schema_version": VERSION,
        "run": {"id": run, "command": command, "started_at": started_at},
        "verdict": "fail" if diverged(report) else "pass",
        "reason": "diverged" if diverged(report) else None,
        **report,
    }


def lines(report: Mapping[str, Any]) -> list[str]:
    """What was replayed and what was not, for a terminal."""
    summary = (
        f"{report['served']} of {counted(report['recorded'], 'recorded exchange')} from {report['tape']}"
    )
    out = [f"replayed   {summary}" + (" (unverified)" if report["unverified"] else "")]
    if report.get("fork"):
        out.append(_forked(report["fork"]))
    if report.get("live"):
        out += _live(report["live"])
    if report["on_miss"] != "fail" and report["missed"]:
        out.append(
            f"  {report['missed']} sent upstream because of --on-miss `{report['on_miss']}`{_numbers(report)}"
        )
    elif report["missed"] or report["left"]:
        classes = ", ".join(_of_class(name, count) for name, count in sorted(report["classes"].items()))
        out.append(f"  diverged: {classes}")
    out += _redacted(report["redacted"], exact=_as_recorded(report))
    for miss, count in _alike(report["misses"][:SHOWN]):
        out += _miss(miss, count)
    out += [f"  not requested: {name}" for name in report["leftovers"][:SHOWN]]
    more = report["missed"] + report["left"] - min(SHOWN, len(report["misses"]))
    more -= min(SHOWN, len(report["leftovers"]))
    if more > 0:
        out.append(f"  and {more} more in `replay.json`")
    return [safe(line) for line in out]


def _of_class(name: str, count: int) -> str:
    one, many = IRREGULAR.get(name, (name, ""))
    return counted(count, one, many)


def _numbers(report: Mapping[str, Any]) -> str:
    """Which exchanges of this run went live, as far as they are listed."""
    numbers = [f"#{miss['exchange']}" for miss in report["misses"] if miss.get("exchange")]
    more = report["missed"] - len(numbers)
    return f": {', '.join(numbers)}{f' and {more} more' if more else ''}" if numbers else ""


def _as_recorded(report: Mapping[str, Any]) -> bool:
    """Was each recorded answer given once, and nothing else? Redaction is left out of that."""
    whole = report["served"] == report["recorded"] and not (report["missed"] or report["left"])
    return whole and not (report["rebound"] or report.get("fork"))


def _redacted(found: Mapping[str, Any], *, exact: bool) -> Iterator[str]:
    """Which answers are not what was delivered when they were recorded; `exact` but for these?"""
    count, heads = found["answers"], found["heads"]
    if count:
        many = "answer differs" if count == 1 else "answers differ"
        why = "redacted values are not on the tape"
        yield f"  not exact: {count} {many} from what was delivered live: {why}"
        calls = [one for one in found["calls"] if one["body"]]
        yield from (f"    {one['call']}: {', '.join(one['body'])}" for one in calls[:SHOWN])
        if count > len(calls[:SHOWN]):
            yield f"    and {count - len(calls[:SHOWN])} more in `replay.json`"
    if heads:
        names = sorted({name for one in found["calls"] for name in one["headers"]})
        if count:
            many = "1 other answer differs" if heads == 1 else f"{heads} other answers differ"
            yield f"  {many} in redacted header fields only: {', '.join(names)}"
        elif not exact:
            many = "1 answer differs" if heads == 1 else f"{heads} answers differ"
            yield f"  {many} in redacted header fields only: {', '.join(names)}"
        else:
            many = "1 answer" if heads == 1 else f"{heads} answers"
            yield f"  exact but for redacted header fields: {', '.join(names)} in {many}"


def _alike(misses: Sequence[Mapping[str, Any]]) -> Iterator[tuple[Mapping[str, Any], int]]:
    """Misses in a row that differ in nothing but their number, once, and how many there are."""
    for _, group in groupby(misses, key=lambda miss: {**miss, "exchange": None}):
        each = list(group)
        yield each[0], len(each)


def _miss(miss: Mapping[str, Any], count: int) -> Iterator[str]:
    times = f" ×{count}" if count > 1 else ""
    yield f"  miss ({miss['class']}){times}: {miss['request']}: {miss['reason']}"
    for one in miss["differences"]:
        yield from (f"    {one['path']}", f"      - {one['recorded']}", f"      + {one['asked']}")
    if miss["expected_next"]:
        yield f"    expected next: {miss['expected_next']}"


def _forked(fork: Mapping[str, Any]) -> str:
    """What became of a fork."""
    if fork["reached"] is None:
        return f"  did not reach the fork point {fork['at']}"
    count = fork["onward"]
    where = "live" if fork["tail"] == "live" else "to the mock"
    after = f"; {count} later {'call' if count == 1 else 'calls'} went {where}"
    return f"  forked at {fork['at']}, here #{fork['reached']}" + ("" if fork["tail"] == "tape" else after)


def _live(live: Mapping[str, Any]) -> Iterator[str]:
    """Which agent of a recorded system ran, and who was played by the tape."""
    name = live["agent"]
    if not live["calls"]:
        yield f"  the live agent `{name}` made no call that bears its mark"
    else:
        onward = f", {live['onward']} of them to a model that answered anew" if live["onward"] else ""
        yield f"  live: `{name}`, {counted(live['calls'], 'call')}{onward}"
    for who, count in live["beside"].items():
        yield f"  beside it: {who}, {counted(count, 'call')}"
    for who, count in live["played"].items():
        yield f"  from the tape alone: {who}, {counted(count, 'recorded call')}"


def page(found: Report) -> str:
    """The page of a document: one file, no script, nothing loaded from anywhere."""
    from faultwire.report.html import environment

    return (
        environment()
        .get_template("replay.html.j2")
        .render(doc=found, forked=found.get("fork"), live=found.get("live"))
    )


def files(report: Mapping[str, Any], about: Mapping[str, Any]) -> dict[str, str]:
    """Name and text of the files that a run's folder gets; `about` is its `run.json`."""
    found = document(
        report, run=str(about["id"]), command=str(about["command"]), started_at=str(about["started_at"])
    )
    return {"replay.json": json.dumps(found, indent=2) + "\n", "replay.html": page(found)}
