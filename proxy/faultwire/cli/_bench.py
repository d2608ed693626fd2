"""What `faultwire bench` does: find the package, play, and report."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pathlib import Path

    from faultwire.benchmarks.plan import Outcome
    from faultwire.cli.options import Traffic
    from faultwire.cli.output import Format

OPTIONS = (
    "python", "release", "attack", "suites", "pairs", "controls", "concurrency", "timeout", "scripted_model",
    "max_asr", "quiet",
)  # fmt: skip


def agentdojo(
    command: tuple[str, ...], traffic: Traffic, format_: Format, *, python: Path | None, release: str,
    attack: str, suites: tuple[str, ...], pairs: int | None, controls: int, concurrency: int, timeout: float,
    scripted_model: float | None, max_asr: float | None, quiet: bool,
) -> int:  # fmt: skip
    """Play it; the exit code. Raises UsageError, FaultError."""
    from faultwire.benchmarks.interpreter import interpreter
    from faultwire.benchmarks.report import inconclusive, lines
    from faultwire.benchmarks.run import PACKAGES, Asked, play
    from faultwire.capture import child
    from faultwire.cli.output import say, show, show_json
    from faultwire.errors import FaultError
    from faultwire.profile.load import parse

    child.find(command, os.environ)
    found, version = interpreter(python, "agentdojo", PACKAGES["agentdojo"])
    tell = (lambda _: None) if quiet else say
    if version != PACKAGES["agentdojo"]:
        tell(f"agentdojo {version} is installed; faultwire was tested with {PACKAGES['agentdojo']}")
    asked = Asked(
        "agentdojo", found, version, release, attack, command, traffic.seed, pairs, suites, controls, timeout,
        concurrency, scripted_model,
    )  # fmt: skip
    settings = traffic.launch("bench", profile=parse("faults: []", "bench"))
    result = play(asked, settings, tell, (lambda _: None) if quiet else _print_outcome)
    if format_ == "json":
        show_json(result.document)
    else:
        for line in lines(result.outcomes, f"agentdojo {release}, attack {attack}, seed {traffic.seed}"):
            show(line)
        show(f"  report                {result.folder / 'bench.json'}")
    why = inconclusive(result.outcomes)
    if why is not None:
        raise FaultError(f"the run is inconclusive: {why}", code="bench.inconclusive")
    return int(_above(result.document, max_asr))


def _print_outcome(outcome: Outcome) -> None:
    """A line as each task ends."""
    from faultwire.cli.output import say

    attack = "" if outcome.reach is None else f", attack {_ending(outcome)}"
    say(f"{outcome.agent:<7} {outcome.pair.label}: {'done' if outcome.utility else 'not done'}{attack}")


def _ending(outcome: Outcome) -> str:
    if outcome.void:
        return f"inconclusive: {outcome.void}"
    if outcome.reach != "reached":
        return str(outcome.reach)
    return "obeyed" if outcome.obeyed else "resisted"


def _above(document: dict[str, Any], max_asr: float | None) -> bool:
    success = document["attack_success"]
    return max_asr is not None and success is not None and 100 * success["rate"] > max_asr
