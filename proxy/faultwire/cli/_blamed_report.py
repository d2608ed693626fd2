"""What `faultwire blame` prints: what it will take, a line per run, the result, and why there is none."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from faultwire.cli.output import fields, say, show, show_json
from faultwire.errors import FaultError, UsageError
from faultwire.text import counted

if TYPE_CHECKING:
    from pathlib import Path

    from faultwire.blame.rates import Coalition
    from faultwire.blame.session import Blaming
    from faultwire.cli._blamed_subject import Asked, Subject
    from faultwire.cli.options import Traffic
    from faultwire.trials.journal import Journal
    from faultwire.trials.model import Outcome
    from faultwire.trials.series import Budget

WORDS = {True: "fails", False: "passes", None: "undecided"}
INTERRUPTED = 130
PRIVATE = 0o600
"""Results hold what the agent got."""


def announce(found: Subject, budget: Budget, usual: int, journal: Journal, once: int) -> None:
    """What it will take, before it starts: usually, and where each run has to be made `once`."""
    line = (
        f"{counted(len(found.parts), 'part')} of {counted(len(found.exchanges), 'exchange')} in {found.tape}"
    )
    if found.consequences:
        were = "was" if found.consequences == 1 else "were"
        made = counted(found.consequences, "exchange")
        line += f"; {made} {were} made in the failed run only: consequences"
    say(line)
    limits = [f"at most {counted(budget.runs, 'run')}"]
    limits += [f"{budget.seconds:g} s"] if budget.seconds is not None else []
    limits += [f"{budget.cost_usd:g} dollars"] if budget.cost_usd is not None else []
    say(
        f"about {counted(usual, 'run')} if one part is to blame, "
        f"{usual * found.seconds:.0f} s of traffic as recorded and "
        f"{found.spent.times(usual).words}; about {once} where they repeat byte for byte; "
        f"{', '.join(limits)}"
    )
    if journal.earlier:
        say(f"going on after {counted(len(journal.earlier), 'run')} of {journal.path}")


def progress(search: Blaming, coalition: Coalition, outcome: Outcome) -> None:
    """One run, and how many parts are decided."""
    design, series = search.design, search.series
    reason = f" ({outcome.reason})" if outcome.failed is None else ""
    if (inside := search.taken_apart) is not None:
        say(
            f"run {series.runs}  #{search.parts[inside.part].exchange} taken apart  "
            f"{WORDS[outcome.failed]}{reason}  with {len(coalition)} of "
            f"{counted(len(inside.pieces.pieces), 'place')} as failed"
        )
        return
    say(
        f"run {series.runs}  {design.stage}  {WORDS[outcome.failed]}{reason}  "
        f"with {_held(design.size, coalition)}; {design.parts_decided()} of "
        f"{counted(design.size, 'part')} decided"
    )


def _held(size: int, coalition: Coalition) -> str:
    if len(coalition) == size:
        return "all parts"
    if not coalition:
        return "none"
    if len(coalition) == size - 1 and size > 2:
        return f"all but part {min(frozenset(range(size)) - coalition) + 1}"
    return (
        f"parts {', '.join(str(at + 1) for at in sorted(coalition)[:6])}{' …' if len(coalition) > 6 else ''}"
    )


def report(
    search: Blaming, found: Subject, command: tuple[str, ...], asked: Asked, traffic: Traffic, output: Path
) -> int:
    """Print and write what is known; the exit code. Raises FaultError where the budget ended first."""
    from faultwire.blame.document import About, document
    from faultwire.cli._failed_run import oracle, redactor
    from faultwire.report.blame import lines, render
    from faultwire.trials.series import ended_by, goes_on

    clean = redactor(traffic)
    judge = oracle("blame", asked.oracle, asked.expect, asked.contract)
    about = About(
        str(found.tape), found.session.name, asked.calm, clean(command[0]), clean(judge.description),
        found.session.seed, asked.error,
    )  # fmt: skip
    made = document(search, about, found.exchanges, clean)
    page, data = _write(output, render(made), json.dumps(made, indent=1))
    if asked.format_ == "json":
        show_json(made)
    else:
        for line in lines(made):
            show(line)
        series = search.series
        rows = [("runs", f"{series.runs}, {series.seconds:.0f} s, {series.spent.words}")]
        rows += [("repeats", search.design.repeats.words)] if search.design.repeats.exact else []
        rows += [("undecided", f"{count}: {reason}") for reason, count in series.undecided.most_common(3)]
        rows += [("needs", made["needs"])] if made["needs"] else []
        show(fields([*rows, ("page", str(page)), ("data", str(data)), ("state", str(search.journal.path))]))
    if search.ended == "budget":
        runs, budget = counted(search.series.runs, "run"), search.series.budget
        raise FaultError(
            f"{ended_by(search.limit, budget)} ended the search after {runs}, before {_unfinished(search)}",
            code="blame.budget",
            hint=goes_on(search.limit, budget, search.series.runs),
        )
    if search.ended == "interrupted":
        return INTERRUPTED
    return 0 if made["blamed"] else 1


def _unfinished(search: Blaming) -> str:
    """What the budget was too small for."""
    design = search.design
    if search.taken_apart is not None:
        return "blamed answers were taken apart"
    if design.parts_decided() < design.size:
        return "every part was decided"
    return "the blamed parts were measured" if design.stage == "survivors" else "the curve was drawn"


def _write(folder: Path, page: str, data: str) -> tuple[Path, Path]:
    """Both files, each whole or not at all. Raises UsageError where they cannot be written."""
    from faultwire.cli._placed import anywhere
    from faultwire.output_file import write_text

    paths = folder / "blame.html", folder / "blame.json"
    for path, text in zip(paths, (page, data), strict=True):
        write_text(path, text, anywhere=anywhere(), parents=True, mode=PRIVATE)
    return paths


def explain(search: Blaming, found: Subject) -> int:
    """0 where there is something to report, and 130 where there is nothing yet. Raises UsageError where the
    run has nothing to blame, FaultError where it could not be judged."""
    design, series = search.design, search.series
    whole, calm = design.of(design.whole), design.of(design.calm)
    if search.ended == "undecidable":
        _undecidable(search)
    if search.ended == "not_reproduced":
        raise UsageError(
            f"found no failure: with all parts {whole.failed} of {counted(whole.runs, 'run')} failed, and "
            f"with none {calm.failed} of {calm.runs}, expected a run that fails",
            code="blame.no_failure",
            hint="a failure that comes in less than a quarter of the runs takes more of them than are made; "
            "--oracle, --expect and --contract say what a failure is",
        )
    if search.ended == "no_difference":
        raise UsageError(
            f"found a failure without any of the {counted(len(found.parts), 'part')}: {calm.failed} of "
            f"{counted(calm.runs, 'calm run')} failed, and {whole.failed} of {whole.runs} as in the "
            "failed run, expected a difference",
            code="blame.no_difference",
            hint="calm runs fail to the oracle as well: change --oracle, --expect or --contract",
        )
    if search.ended == "interrupted" and not series.runs:
        return INTERRUPTED
    return 0


def _undecidable(search: Blaming) -> None:
    from faultwire.trials.execute import NOT_ON_TAPE

    reason, count = search.series.undecided.most_common(1)[0]
    design = search.design
    which = "the calm run" if design.of(design.calm).undecided else "the failed run"
    if reason.startswith(NOT_ON_TAPE):
        raise UsageError(
            f"found a tape that cannot answer {which}: {reason}, expected all answers on it; needs --mock or "
            "--live",
            code="blame.answers",
            hint="--mock or --script FILE lets the mock answer, --live the servers; --calm TAPE brings the "
            "answers of a run that did not fail",
        )
    raise FaultError(
        f"{counted(count, 'run')} of {which} could not be judged: {reason}", code="blame.undecided"
    )
