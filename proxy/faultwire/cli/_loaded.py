"""What `faultwire load` does: play the ramp, judge it, and write it down."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from textwrap import wrap
from typing import TYPE_CHECKING, Any

from faultwire.errors import FaultError, UsageError

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from faultwire.cli.options import Traffic
    from faultwire.cli.output import Format
    from faultwire.load.measure import Invocation
    from faultwire.load.pressure import Pressure
    from faultwire.load.ramp import Ramp

COLUMNS = 60
ENDINGS = (".html", ".json")


@dataclass(frozen=True, slots=True)
class Asked:
    """The options that are `load`'s own."""

    levels: tuple[int, ...]
    cells: int
    serial: int
    per_level: int
    prompts: tuple[str, ...]
    target: float
    oracle: str | None
    expect: str | None
    contract: Path | None
    pressures: tuple[str, ...]
    max_runs: int
    max_time: float
    timeout: float
    output: tuple[Path, ...]
    quiet: bool


def load(command: tuple[str, ...], asked: Asked, traffic: Traffic, format_: Format) -> int:
    """Play it, and report; the exit code. Raises UsageError, ProfileError, FaultError."""
    from faultwire.capture import child
    from faultwire.cli._failed_run import oracle, redactor
    from faultwire.cli._placed import anywhere
    from faultwire.cli.output import show_json
    from faultwire.load.pressure import Pressure, available
    from faultwire.load.ramp import Plan, Ramp
    from faultwire.load.report import page
    from faultwire.output_file import check, write_text
    from faultwire.runner.launch import start_run

    targets = [_target(check(path, anywhere=anywhere())) for path in asked.output]
    pressures = [Pressure.parse(one) for one in asked.pressures]
    available(pressures)
    child.find(command, os.environ)
    judge = oracle("load", asked.oracle, asked.expect, asked.contract)
    profile, redact = traffic.load(), redactor(traffic)
    plan = Plan(
        asked.levels, asked.cells, asked.serial, asked.per_level, asked.max_runs, asked.max_time
    )  # fmt: skip

    def notify(one: Invocation) -> None:
        if not asked.quiet:
            _progress(one)

    with start_run(traffic.launch("load", profile=profile)) as run:
        ramp = Ramp(
            run, profile, command, asked.prompts, judge, asked.timeout, traffic.seed, plan, notify
        )  # fmt: skip
        about = {
            "seed": traffic.seed, "command": list(command), "cells": asked.cells,
            "target": asked.target / 100, "failing": redact(judge.description), "tape": str(run.tape),
        }  # fmt: skip
        found = _played(ramp, pressures, about, redact)
        run.folder.write("load.json", json.dumps(found, indent=2) + "\n")
        run.folder.write("load.html", page(found))
        run.folder.end("finished")
    for path in targets:
        text = page(found) if path.suffix == ".html" else json.dumps(found, indent=2) + "\n"
        write_text(path, text, anywhere=anywhere())
    if format_ == "json":
        show_json(found)
    else:
        _print(found, run.folder.path)
    return exit_code(found)


def _target(path: Path) -> Path:
    if path.suffix not in ENDINGS:
        raise UsageError(
            f"found `{path}` for --output, expected a name that ends in {', '.join(ENDINGS)}",
            code="usage.output",
        )
    return path


def _played(ramp: Ramp, pressures: Sequence[Pressure], about: dict[str, Any], redact: Any) -> dict[str, Any]:
    """Make the runs; the report as a document."""
    from faultwire.load.knee import knee
    from faultwire.load.measure import measured
    from faultwire.load.races import races
    from faultwire.load.report import document

    found = {level: [replaced(one, redact) for one in some] for level, some in ramp.levels().items()}
    again = [replaced(one, redact) for one in ramp.again(found)]
    under = {one.text: ramp.under(one) for one in pressures}
    levels = [
        measured(level, len(ramp.plan.work(level)), some, about["target"]) for level, some in found.items()
    ]
    beside = [one for level, some in found.items() if level > 1 for one in some]
    about = {**about, "ended": ramp.ended, "runs": ramp.made}
    return document(about, levels, knee(levels, ramp.seed), races(found[1], beside, again), under)


def replaced(one: Invocation, redact: Any) -> Invocation:
    """An invocation whose reason holds no secret."""
    return one._replace(reason=redact(one.reason))


def _progress(one: Invocation) -> None:
    from faultwire.cli.output import say

    say(f"{one.level:>3} at once  cell {one.cell:<3} {one.verdict:<7} {one.seconds:.2f} s")


def _print(found: dict[str, Any], folder: Path) -> None:
    from faultwire.cli.output import show
    from faultwire.load.report import lines
    from faultwire.text import safe

    for line in lines(found):
        indent = " " * (len(line) - len(line.lstrip()))
        for piece in wrap(safe(line), COLUMNS, subsequent_indent=f"{indent}  ", drop_whitespace=False) or [
            ""
        ]:
            show(piece.rstrip())
    show(f"report  {folder / 'load.html'}")


def exit_code(found: dict[str, Any]) -> int:
    """0, or 1 for a race or an overspent budget. Raises FaultError where nothing was judged."""
    if not any(one["budget"]["judged"] for one in found["levels"]):
        raise FaultError(
            "the run is inconclusive: no invocation could be judged",
            code="load.nothing",
            hint="`faultwire doctor -- CMD` shows whether its traffic comes through the proxy",
        )
    overspent = any(one["budget"]["overspent"] for one in found["levels"])
    return int(overspent or found["races"]["found"])
