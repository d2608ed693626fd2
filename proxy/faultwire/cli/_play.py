"""Runs a configuration's phases, shows the results, and sets the exit code."""

from __future__ import annotations

import io
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from faultwire.cli._ended import interruptible
from faultwire.cli._placed import anywhere
from faultwire.cli._store_options import stored
from faultwire.cli.output import colour, say, show, show_json
from faultwire.text import counted

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from faultwire.campaign.ci_run import Part, Result, Wanted
    from faultwire.cli._play_options import Play
    from faultwire.config.model import Config
    from faultwire.report.faces import Face
    from faultwire.report.progress import Progress
    from faultwire.runner.phases import Mutator, Phase
    from faultwire.runner.run import Played

DROP = 0.2
"""The drop of a pass rate for which the needed number of invocations is stated."""
WIDTH = 110
"""Columns where stdout is no terminal: a report that is read later should not be folded."""


class After(Protocol):
    """What is done once a run has ended, and its files are there."""

    def __call__(self, result: Result, config: Config, parts: Sequence[Part], wanted: Wanted, /) -> Result:
        """The result with what was added. It changes no verdict."""


def _as_it_is(result: Result, *_: object) -> Result:
    return result


def play(
    command: str,
    options: Play,
    parts: Callable[[Config], tuple[Sequence[Part], Mapping[str, str]]],
    *,
    check_memory: bool = False,
    live: bool = True,
    shown: Callable[[Result], None] | None = None,
    after: After = _as_it_is,
) -> None:
    """Load, play what `parts` makes of the configuration (and why others are missing), show, and exit.

    `live` allows a redrawn progress line; `shown` prints the result instead of the report; `after` may add
    to the result before. Raises FaultwireError; exits 1 and 130 by itself.
    """
    from faultwire.campaign.ci_run import Wanted
    from faultwire.runner.never_judged import foreseen

    config, until = options.load(), options.sequential()
    target = _target(options) or _wanted(config)
    baseline = _baseline(options.baseline)
    made, missing = parts(config)
    _comparable(baseline, {phase.name for part in made for phase in part.phases}, config)
    for phase in (phase for part in made for phase in part.phases):
        if (before := (baseline or {}).get(phase.name)) is not None:
            say(f"note: {_findable(phase, before)}")
    for warning in config.warnings:
        say(f"warning: {warning}")
    for note in (note for part in made for phase in part.phases for note in phase.notes):
        say(f"note: {note}")
    for one in foreseen([phase for part in made for phase in part.phases], command):
        say(f"warning: {one.why}")
    perform = options.performer()
    store, upload = options.opened_store()  # before the first invocation
    wanted = Wanted(
        command,
        until=until,
        check_memory=check_memory,
        baseline=baseline,
        missing=missing,
        min_score=options.min_score,
        allow_unknown=options.allow_unknown,
        engines=options.engine_count(config),
        beside=options.beside(upload),
    )
    try:
        result = _performed(perform, config, made, wanted, quiet=options.quiet, live=live)
    except KeyboardInterrupt:
        say("interrupted before there was anything to report")
        raise
    for warning in result.warnings[len(config.warnings) :]:
        say(f"warning: {warning}")
    result = after(result, config, made, wanted)
    _copy(result, target)
    (shown or (lambda done: _show(done, options)))(result)
    stored(store, upload, result.folder)
    if result.void is not None:
        raise result.void
    for reason in result.gate.reasons:
        say(reason)
    sys.exit(result.gate.code)


def _performed(
    perform: Callable[..., Result],
    config: Config,
    made: Sequence[Part],
    wanted: Wanted,
    *,
    quiet: bool,
    live: bool,
) -> Result:
    """Play, with a line of progress on stderr unless `quiet`."""
    from faultwire.report import progress

    planned = {invocation.id for part in made for phase in part.phases for invocation in phase.plan}
    if quiet:
        with interruptible():
            return perform(config, made, wanted, lambda _phase, _played: None)
    with (
        interruptible(),
        progress.progress(len(planned), sys.stderr, live=live and colour(sys.stderr)) as meter,
    ):
        return perform(config, made, wanted, lambda phase, played: _advance(meter, phase, played, planned))


def _advance(meter: Progress, phase: Phase, played: Played, planned: set[str]) -> None:
    """Update the progress line with an invocation, without verdicts that may still change."""
    from faultwire.contract.matrix import judge

    if played.invocation.id not in planned:
        meter.more(1)
    last = {check.label for check in phase.checks if not check.over_all}
    cells = judge(phase.invariants, [(played.invocation, played.history)]).cells
    open_ = _open(phase, played) if any(cell.verdict.verdict == "unknown" for cell in cells) else set()
    meter.judged(cell for cell in cells if cell.invariant in last and cell.invariant not in open_)
    meter.played(played.invocation, played.history)  # says a line, in which its verdicts count


def _open(phase: Phase, played: Played) -> set[str]:
    """The invariants that are unknown only because the calm answer is not there yet."""
    from dataclasses import replace

    from faultwire.contract.matrix import judge

    if played.history.baseline is not None:
        return set()
    calm = judge(phase.invariants, [(played.invocation, replace(played.history, baseline=" "))]).cells
    now = judge(phase.invariants, [(played.invocation, played.history)]).cells
    return {
        was.invariant
        for was, then in zip(now, calm, strict=True)
        if was.verdict.verdict == "unknown" and then.verdict.verdict != "unknown"
    }


def mutator(config: Config) -> Mutator:
    """The function that makes mutants by the configuration."""
    from faultwire.mutations._lines import Form
    from faultwire.mutations.make import CACHE, mutants
    from faultwire.runner.folder import STATE

    reads = config.agent.reads
    return lambda text: mutants(
        text,
        config.mutations,
        seed=config.seed,
        model=config.model,
        cache=STATE / CACHE,
        fixed=config.advanced.seed is not None,
        form=Form(reads) if reads else None,
    )


def _target(options: Play) -> tuple[Path, Face] | None:
    """The extra report file from the options, checked before anything is started. Raises UsageError."""
    from faultwire.errors import UsageError
    from faultwire.report import faces

    output = options.output
    if output is None:
        return None
    if str(output) in (*faces.NAMES, "terminal") and not output.exists():
        raise UsageError(
            f"found the format `{output}` for --output, expected a folder or a file",
            code="usage.output",
            hint=f"--output report.{output}, or --format json for stdout",
        )
    return faces.target(output, anywhere=anywhere())


def _wanted(config: Config) -> tuple[Path, Face] | None:
    """The extra report file from the configuration. Raises UsageError if it cannot be written."""
    from faultwire.report import faces

    output = config.output
    if output.path is None or output.format == "terminal":
        return None
    return faces.target(output.path, output.format, anywhere=anywhere())


def _baseline(name: str | None) -> dict[str, dict[str, Any]] | None:
    """The documents of an earlier run, by phase."""
    from faultwire.report.load import load
    from faultwire.runner.past_runs import phases_in, run_folder

    if name is None:
        return None
    path = Path(name)
    if path.is_file():
        found = [load(path)]
    else:
        folder = run_folder(name)
        files = [folder / f"{phase}.json" for phase in phases_in(folder)] or [folder / "report.json"]
        found = [load(file) for file in files]
    return {str(document["run"].get("phase") or "contract"): document for document in found}


def _comparable(baseline: Mapping[str, dict[str, Any]] | None, played: set[str], config: Config) -> None:
    """Warn about an earlier run of another configuration. Raises UsageError if no phase can be compared."""
    from faultwire.errors import UsageError

    if baseline is None:
        return
    if not played & set(baseline):
        raise UsageError(
            f"found a run of {_listed(baseline)} for --baseline, expected one of {_listed(played)}",
            code="usage.baseline",
            hint="`faultwire runs` lists the runs and their commands",
        )
    if any(document["run"].get("config") not in (None, config.digest) for document in baseline.values()):
        say("note: the --baseline run used another configuration, which may explain the difference")


def _findable(phase: Phase, before: Mapping[str, Any]) -> str:
    """Which drop the comparison with an earlier run can find, and how many runs a given one needs."""
    from faultwire.contract.statistics import POWER, findable, needed

    clean = before["score"]["clean_invocations"]
    # A rate of 1 from few runs is no certainty, and no drop from it would be worth a thought: take .95.
    rate = min(0.95, clean["passed"] / clean["total"]) if clean["total"] else 0.95
    least = min(len(phase.plan), clean["total"])
    text = (
        f"{phase.name}: {counted(len(phase.plan), 'invocation')} against {clean['total']} before "
        f"can show a drop from {rate:.0%} to {findable(rate, least):.0%} or less, {POWER:.0%} of the time"
    )
    if rate <= DROP:
        return text
    enough = needed(rate, rate - DROP)
    if enough <= least:
        return text
    return f"{text}; a drop of {DROP * 100:.0f} points takes {enough} in each (--repeat)"


def _listed(names: Iterable[str]) -> str:
    return ", ".join(f"`{name}`" for name in sorted(names))


def _copy(result: Result, target: tuple[Path, Face] | None) -> None:
    """Also write the report to the user's target."""
    from faultwire.cli.report import copied
    from faultwire.errors import UsageError
    from faultwire.output_file import write_text
    from faultwire.report import faces

    if target is None:
        return
    path, face = target
    try:
        if result.overall is not None:
            copied(result.folder, result.documents, path, face)
            return
        text = faces.render(next(iter(result.documents.values())), face)
        write_text(path, text, anywhere=anywhere())
    except OSError as error:
        raise UsageError(f"cannot write `{path}`: {error.strerror}", code="usage.output") from error


def _show(result: Result, options: Play) -> None:
    several = result.overall is not None
    if options.format_ == "json":
        show_json(result.overall or next(iter(result.documents.values())))
        return
    if options.quiet:
        show("none" if result.scores.score is None else f"{result.scores.score:.4f}")
        return
    _print(result)
    show()
    for phase in result.scores.phases:
        if phase.name != "contract" and not several and phase.score is not None:
            show(f"{phase.name} score: {phase.score:.4f}")
    show(f"report: {options.output or result.report}")
    show(f"tape:   {result.tape}")


def _print(result: Result) -> None:
    from rich.console import Console

    from faultwire.report import terminal
    from faultwire.text import width_of

    screen = colour()
    plain = not str(getattr(sys.stdout, "encoding", "")).lower().startswith("utf")
    if plain and isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")
    width = width_of(sys.stdout) or WIDTH
    console = Console(width=width, highlight=False, markup=False, emoji=False, force_terminal=screen)
    if result.overall is not None:
        from faultwire.report import summary

        for document in result.documents.values():
            findings = terminal.phase_findings(document, plain=plain)
            if findings is not None:
                console.print(findings)
        console.print(summary.terminal(result.overall, plain=plain))
    else:
        console.print(terminal.render(next(iter(result.documents.values())), plain=plain))
