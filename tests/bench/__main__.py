"""`python -m tests.bench [--quick] [--json FILE] [--only NAME]`: what faultwire costs, as ratios.

Every proxy is measured in one interleaved run against the same upstream and by the same load, both in
processes of their own. Absolute figures say little on a shared machine; ratios of one round do.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from tests.bench import (
    cells,
    checks,
    command,
    compare,
    crowd,
    curves,
    memory,
    micro,
    native,
    peers,
    recording,
    reports,
    rounds,
    subjects,
    table,
    taped,
)
from tests.bench.rig import Rig
from tests.bench.rounds import Measure, Row
from tests.bench.subjects import Subject

MEASURES = (
    Measure("keepalive", "2 KB JSON, 16 kept connections", "json", 1500, 16, target=1.5),
    Measure("connect", "2 KB JSON, a new TLS connection each", "json", 200, 8, fresh=True, target=1.2),
    Measure("sse", "SSE, 200 events at once", "burst", 160, 16, baseline="mitmdump+stream", target=1.2),
    Measure(
        "first16", "SSE, first event, 16 streams", "paced", 32, 16, reads="first", baseline="mitmdump+stream"
    ),
    Measure("first1", "SSE, first event, 1 stream", "paced", 6, 1, reads="first", baseline="mitmdump+stream"),
)
NAMES = (
    *(m.name for m in MEASURES),
    "memory",
    "crowd",
    "taped",
    "native",
    "peers",
    *(curve.name for curve in curves.CURVES),
    "serial",
    "help",
    "micro",
    "recording",
    "cells",
    "checks",
    "reports",
)
STREAM = Path(__file__).with_name("stream_addon.py")
ROUNDS = {False: 7, True: 5}
EXCHANGES = {False: 20_000, True: 4_000}
STREAMS = {False: 1000, True: 200}
SHRINK = 5
"""By how much a quick run makes each batch smaller."""


def say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


def main() -> int:
    parser = argparse.ArgumentParser(
        prog="python -m tests.bench", description="What faultwire costs, as ratios."
    )
    parser.add_argument(
        "--quick", action="store_true", help="small batches: a first look, not figures to quote"
    )
    parser.add_argument("--json", type=Path, metavar="FILE", help="write all values there")
    parser.add_argument("--only", action="append", choices=NAMES, metavar="NAME", help=", ".join(NAMES))
    parser.add_argument(
        "--compare", metavar="COMMIT", help="only this: CPU of an exchange now over that of a commit"
    )
    given = parser.parse_args()
    if given.compare:
        return compared(given.compare, given.json, quick=given.quick)
    wanted = given.only or list(NAMES)
    rows: list[Row] = []
    with tempfile.TemporaryDirectory(prefix="faultwire-bench-") as folder:
        rows += traffic(Path(folder), wanted, quick=given.quick)
        if "cells" in wanted:
            say("cells: a runner, an engine and an agent")
            rows += cells.run(Path(folder), quick=given.quick)
    if "help" in wanted:
        rows += command.run()
    if "micro" in wanted:
        rows += micro.run()
    if "recording" in wanted:
        say("recording: the tape by itself")
        rows += [tape_row(figure) for figure in recording.run()]
    if "checks" in wanted:
        say("checks: every kind on many histories")
        rows += checks.run(quick=given.quick)
    if "reports" in wanted:
        say(reports.CELLS)
        rows += reports.run()
    print(table.text(rows))
    if given.json:
        table.write(given.json, rows, {"quick": given.quick, "only": wanted})
    return 0


def compared(commit: str, path: Path | None, *, quick: bool) -> int:
    """This tree beside a commit."""
    with tempfile.TemporaryDirectory(prefix="faultwire-bench-") as folder, Rig(Path(folder)) as rig:
        rows = compare.run(rig, commit, quick=quick)
    print(table.text(rows))
    if path:
        table.write(path, rows, {"quick": quick, "compare": commit})
    return 0


def traffic(folder: Path, wanted: Sequence[str], *, quick: bool) -> list[Row]:
    """The measures that need proxies, an upstream and a load."""
    measures = [m for m in MEASURES if m.name in wanted]
    growing = {"serial", *(curve.name for curve in curves.CURVES)} & set(wanted)
    if not measures and not growing and not {"memory", "crowd", "taped", "native", "peers"} & set(wanted):
        return []
    rows: list[Row] = []
    with Rig(folder) as rig:
        if measures:
            rows += ratios(rig, measures, quick=quick)
        if "memory" in wanted:
            rows += flatness(rig, quick=quick)
        if "crowd" in wanted:
            say(f"crowd: {STREAMS[quick]} streams at once")
            rows += crowd.run(rig, STREAMS[quick])
        if "taped" in wanted:
            say("taped: with a tape and without")
            rows += taped.run(rig, quick=quick)
        if "native" in wanted:
            say("native: TLS and HTTP/1.1 in the core, and in mitmproxy")
            rows += native.run(rig, rig.bare(), rig.bare(STREAM), quick=quick)
        if "peers" in wanted:
            say("peers: beside other proxies")
            rows += peers.run(rig, rig.bare(), quick=quick)
        if growing:
            say("curves: how the cost of an exchange grows")
            rows += curves.run(rig, growing, quick=quick)
    return rows


def ratios(rig: Rig, measures: Sequence[Measure], *, quick: bool) -> list[Row]:
    """Each measure on all subjects that it is about; mockttp beside them where it can be had."""
    direct = subjects.direct(rig.keys, rig.port)
    bare = {"mitmdump": rig.bare(), "mitmdump+stream": rig.bare(STREAM)}
    ours = [rig.ours("faultwire", subjects.ARMED), rig.ours("faultwire-idle", subjects.IDLE)]
    missing, beside = "", []
    try:
        beside = [rig.mockttp()]
        warm(rig, beside[0])
    except (RuntimeError, TimeoutError, OSError) as error:
        missing, beside = f"not measured: {error}", []
    rows: list[Row] = []
    for measure in measures:
        say(f"{measure.name}: {measure.title}")
        smaller = replace(measure, count=max(measure.connections, measure.count // (SHRINK if quick else 1)))
        found = [bare[measure.baseline], *ours, direct, *beside]
        rows += rounds.run(smaller, found, rig.load, ROUNDS[quick])
        if missing:
            rows.append(Row(measure.name, measure.title, "mockttp", measure.unit, note=missing))
    return rows


def warm(rig: Rig, subject: Subject) -> None:
    """Let a just-in-time compiler see the traffic before anything is counted."""
    for kind in ("json", "burst"):
        rig.load.ask(subject.job(count=1000 if kind == "json" else 100, connections=16, kinds=[kind]))


def tape_row(figure: recording.Figure) -> Row:
    """What `tests.bench.recording` measures, as a row of the table."""
    goal = figure.goal.split()
    return Row(
        "recording",
        f"tape: {figure.name}",
        "faultwire",
        figure.unit,
        rounds=[figure.value],
        target=float(goal[1]) if goal else None,
        more_is_better=goal[:1] == ["≥"],
    )


def flatness(rig: Rig, *, quick: bool) -> list[Row]:
    say("memory: an engine of its own")
    subject = rig.ours("faultwire-memory", subjects.ARMED)
    return memory.run(subject, rig.load, rig.child("load"), EXCHANGES[quick])


if __name__ == "__main__":
    raise SystemExit(main())
