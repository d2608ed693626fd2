"""What `faultwire bench` does: find the benchmark, play, and report."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from faultwire.errors import FaultError, UsageError

if TYPE_CHECKING:
    from collections.abc import Callable

    from faultwire.benchmarks.catalogue import Benchmark
    from faultwire.benchmarks.plan import Outcome
    from faultwire.cli.options import Traffic
    from faultwire.cli.output import Format

OPTIONS = (
    "python", "data", "release", "attack", "suites", "pairs", "controls", "concurrency", "timeout",
    "scripted_model", "max_asr", "quiet",
)  # fmt: skip


def benchmark(
    name: str, command: tuple[str, ...], traffic: Traffic, format_: Format, *, attack: str,
    suites: tuple[str, ...], pairs: int | None, controls: int, concurrency: int, timeout: float,
    scripted_model: float | None, max_asr: float | None, quiet: bool, python: Path | None = None,
    data: Path | None = None, release: str | None = None,
) -> int:  # fmt: skip
    """Play it; the exit code. Raises UsageError, FaultError."""
    from faultwire.benchmarks.catalogue import BENCHMARKS
    from faultwire.benchmarks.report import inconclusive, lines
    from faultwire.benchmarks.run import Asked, play
    from faultwire.capture import child
    from faultwire.cli.output import say, show, show_json
    from faultwire.profile.load import parse

    child.find(command, os.environ)
    about = BENCHMARKS[name]
    tell = (lambda _: None) if quiet else say
    found, version = _files(data, attack, tell) if data is not None else _package(about, python, tell)
    asked = Asked(
        name, found, version, release or about.release, attack, command, traffic.seed, pairs, suites,
        controls, timeout, concurrency, scripted_model, data,
    )  # fmt: skip
    settings = traffic.launch("bench", profile=parse("faults: []", "bench"))
    result = play(asked, settings, tell, (lambda _: None) if quiet else _print_outcome)
    if format_ == "json":
        show_json(result.document)
    else:
        for line in lines(result.outcomes, f"{name} {asked.release}, attack {attack}, seed {traffic.seed}"):
            show(line)
        show(f"  report                {result.folder / 'bench.json'}")
    why = inconclusive(result.outcomes)
    if why is not None:
        raise FaultError(f"the run is inconclusive: {why}", code="bench.inconclusive")
    return int(_above(result.document, max_asr))


def _package(about: Benchmark, python: Path | None, tell: Callable[[str], None]) -> tuple[Path, str]:
    """The interpreter that has a benchmark's package, and its version."""
    from faultwire.benchmarks.interpreter import interpreter

    found, version = interpreter(python, about.package, about.version)
    if version != about.version:
        tell(f"{about.package} {version} is installed; faultwire was tested with {about.version}")
    return found, version


def _files(folder: Path, attack: str, tell: Callable[[str], None]) -> tuple[Path, str]:
    """Our own interpreter, for a benchmark's files, once they are seen to be whole. Raises UsageError."""
    from faultwire.benchmarks.child.injecagent_data import SETTINGS, DataError, load, unpublished

    try:
        base = load(folder, SETTINGS[0])
        if attack in SETTINGS[1:] and [case.pair for case in load(folder, attack).cases] != [
            case.pair for case in base.cases
        ]:
            raise DataError(
                f"{folder}: expected the same cases in the settings `{SETTINGS[0]}` and `{attack}`"
            )
    except DataError as error:
        raise UsageError(
            str(error),
            code="bench.data",
            hint="`--data` is the folder `data` of the benchmark's repository, as it was published",
        ) from None
    if differs := unpublished(base):
        tell(f"another version of its cases: {differs}")
    return Path(sys.executable), ""


def _print_outcome(outcome: Outcome) -> None:
    """A line as each task ends."""
    from faultwire.cli.output import say

    done = {True: "done", False: "not done", None: ""}[outcome.utility]
    attack = "" if outcome.reach is None else f"attack {_ending(outcome)}"
    say(f"{outcome.agent:<7} {outcome.pair.label}: {', '.join(filter(None, (done, attack)))}")


def _ending(outcome: Outcome) -> str:
    if outcome.void:
        return f"inconclusive: {outcome.void}"
    if outcome.reach != "reached":
        return str(outcome.reach)
    if outcome.validity is not None and not outcome.validity.valid:
        return f"in an invalid run: {outcome.validity.why}"
    return "obeyed" if outcome.obeyed else "resisted"


def _above(document: dict[str, Any], max_asr: float | None) -> bool:
    success = document["attack_success"]
    return max_asr is not None and success is not None and 100 * success["rate"] > max_asr
