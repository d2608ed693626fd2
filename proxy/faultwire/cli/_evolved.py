"""What `faultwire evolve` does: search, and export what failed."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from faultwire.errors import FaultError, UsageError, did_you_mean

if TYPE_CHECKING:
    from pathlib import Path

    from faultwire.cli.options import Traffic
    from faultwire.cli.output import Format
    from faultwire.evolution.live import Asker
    from faultwire.evolution.mutant import Evolved
    from faultwire.evolution.search import Phase, Seen

ENDINGS = (".jsonl", ".yaml", ".json")


@dataclass(frozen=True, slots=True)
class Asked:
    """The options that are `evolve`'s own."""

    prompts: tuple[str, ...]
    budget: int
    finds: int
    confirm: int
    types: tuple[str, ...]
    oracle: str | None
    expect: str | None
    contract: Path | None
    timeout: float
    output: tuple[Path, ...]
    quiet: bool


def evolve(command: tuple[str, ...], asked: Asked, traffic: Traffic, format_: Format) -> int:
    """Search, and report; the exit code. Raises UsageError, ProfileError, FaultError."""
    from faultwire.capture import child
    from faultwire.cli._failed_run import oracle, redactor
    from faultwire.cli._placed import anywhere
    from faultwire.cli.output import say, show, show_json
    from faultwire.evolution.live import Asker
    from faultwire.evolution.report import lines
    from faultwire.output_file import check, write_text
    from faultwire.runner.launch import start_run

    targets = [_target(check(path, anywhere=anywhere())) for path in asked.output]
    allowed = chosen(asked.types)
    child.find(command, os.environ)
    judge = oracle("evolve", asked.oracle, asked.expect, asked.contract)
    profile, redact = traffic.load(), redactor(traffic)

    def notify(number: int, phase: Phase, mutant: Evolved, seen: Seen) -> None:
        if not asked.quiet:
            outcome = {True: "fails", False: "passes", None: "cannot be judged"}[seen.failed]
            steps = " → ".join(step.type for step in mutant.lineage) or f"prompt {mutant.prompt + 1}"
            say(f"{number}/{asked.budget} {phase:<7} {steps}: {outcome}")

    with start_run(traffic.launch("evolve", profile=profile)) as run:
        asker = Asker(
            run, profile, command, judge, asked.timeout, traffic.seed, redact, notify
        )  # fmt: skip
        found, answers = _searched(asker, asked, allowed, redact(judge.description))
        texts = {path: rendered(found, answers, path.suffix) for path in targets}
        for suffix in ENDINGS:
            run.folder.write(f"evolution{suffix}", rendered(found, answers, suffix))
        run.folder.end("finished")
    for path, text in texts.items():
        write_text(path, text, anywhere=anywhere())
    if format_ == "json":
        show_json(found)
    else:
        for line in lines(found):
            show(line)
        show(f"report  {run.folder.path / 'evolution.json'}")
    return exit_code(found)


def chosen(names: tuple[str, ...]) -> tuple[str, ...]:
    """The types that were asked for, all where none were. Raises UsageError for one that is unknown."""
    from faultwire.evolution.mutant import known, types

    named = known()
    for name in names:
        if name not in named:
            raise UsageError(
                f"found mutation `{name}`, expected one of {', '.join(named)}",
                code="evolve.type",
                hint=did_you_mean(name, named),
            )
    return tuple(dict.fromkeys(names)) or types()


def _searched(
    asker: Asker, asked: Asked, allowed: tuple[str, ...], failing: str
) -> tuple[dict[str, Any], dict[int, str]]:
    """The document, and the answers to the prompts as they are, by number."""
    from faultwire.evolution.mutant import Evolved
    from faultwire.evolution.report import clean, document
    from faultwire.evolution.search import Evolution

    search = Evolution(
        asked.prompts, asker.ask, asker.seed, asked.budget, asked.confirm, asked.finds, allowed
    )  # fmt: skip
    result = search.run()
    about = {
        "seed": asker.seed, "command": list(asker.command), "budget": asked.budget, "failing": failing,
        "tape": str(asker.run.tape),
    }  # fmt: skip
    found = clean(document(result, asked.prompts, asker.answers, asker.sessions, about), asker.redact)
    answers = {
        number: asker.answers.get(Evolved(number, text).id, "") for number, text in enumerate(asked.prompts)
    }
    return found, answers


def rendered(found: dict[str, Any], answers: dict[int, str], suffix: str) -> str:
    """The failures in the format of an ending."""
    from faultwire.evolution.report import as_jsonl, as_prompts

    if suffix == ".jsonl":
        return as_jsonl(found, answers)
    return as_prompts(found) if suffix == ".yaml" else json.dumps(found, indent=2) + "\n"


def _target(path: Path) -> Path:
    if path.suffix not in ENDINGS:
        raise UsageError(
            f"found `{path}` for --output, expected a name that ends in {', '.join(ENDINGS)}",
            code="usage.output",
        )
    return path


def exit_code(found: dict[str, Any]) -> int:
    """0, or 1 for a confirmed failure. Raises UsageError where no prompt passes as it is, FaultError where
    nothing could be learned."""
    if len(found["unfit"]) == len(found["prompts"]):
        raise UsageError(
            f"found no prompt that passes as it is, where a failure is: {found['failing']}",
            code="evolve.unfit",
            hint="--expect, --contract and --oracle say what a failure is; "
            "`faultwire doctor -- CMD` shows whether its traffic comes through the proxy",
        )
    if not any(one["tried"] for one in found["types"]):
        raise FaultError(
            f"--budget {found['budget']} ended before a mutant was asked",
            code="evolve.budget",
            hint=f"--budget {2 * found['budget']}",
        )
    return int(bool(found["failures"]))
