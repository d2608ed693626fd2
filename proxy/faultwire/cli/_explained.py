"""What `faultwire ci --explain N` does after the run: blame its new failures, within N runs of the agent.

The run's files are whole before it begins, and are written anew with what was found. Nothing here changes the
exit code of the run.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from faultwire.cli._ended import interruptible
from faultwire.cli.output import say
from faultwire.errors import FaultwireError
from faultwire.text import counted

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from faultwire.blame.session import Blaming
    from faultwire.campaign.ci_run import Part, Result, Wanted
    from faultwire.checks._api import Check
    from faultwire.config.model import Config
    from faultwire.runner.phases import Phase
    from faultwire.runner.play_phase import Outcome as Outcomes
    from faultwire.runner.run import Played
    from faultwire.trials.execute import TrialRunner
    from faultwire.trials.model import Pin

ERROR = 0.05
"""The error rate of a search, as `blame` has it unless it is told otherwise."""
WORST = ("critical", "high", "medium", "low")


@dataclass
class _Failure:
    """Cells that failed in the same way, and the one that is searched."""

    number: int
    cells: list[dict[str, Any]]
    phase: Phase
    played: Played
    others: Sequence[Played]
    check: Check
    pins: tuple[Pin, ...]
    why_not: str = ""
    found: dict[str, Any] | None = None
    runs: int = 0
    page: str | None = None
    search: Blaming | None = None
    runner: TrialRunner | None = None
    notes: list[str] = field(default_factory=list)

    def row(self) -> dict[str, Any]:
        """For the run's documents."""
        from faultwire.report.explained import found_words

        cell, found = self.cells[0], self.found
        blamed = [] if found is None else [found["parts"][at]["label"] for at in found["blamed"]]
        return {
            "phase": self.phase.name,
            "invariant": cell["invariant"],
            "severity": cell["severity"],
            "scenario": cell["scenario"],
            "invocation": self.played.invocation.id,
            "invocations": [one["invocation"] for one in self.cells],
            "also": len(self.cells) - 1,
            "runs": self.runs,
            "conclusion": self.why_not if found is None else found_words(found),
            "blamed": blamed,
            "page": self.page,
            "data": None if self.page is None else self.page.replace(".html", ".json"),
        }


def explain(
    result: Result, config: Config, parts: Sequence[Part], wanted: Wanted, budget: int, *, quiet: bool
) -> Result:
    """The run with what was found. Ctrl-C ends the search, and what was found until then is kept."""
    from faultwire.campaign.explained import explained

    if any(outcome.partial for outcome in result.outcomes):
        say("note: --explain: nothing is explained of a run that was interrupted")
        return result
    failures = _failures(result, wanted.baseline)
    if not failures:
        say("note: --explain: there is no new failure to explain")
        return explained(result, [])
    if not quiet:
        causes = counted(len(failures), "distinct failure")
        say(f"explains {causes} with at most {counted(budget, 'run')}")
    with interruptible():
        _searched(failures, result, config, parts, wanted, budget, quiet=quiet)
    return explained(result, [one.row() for one in failures])


def _failures(result: Result, baseline: Mapping[str, dict[str, Any]] | None) -> list[_Failure]:
    """The distinct new failures, the worst first: by severity, then by how many cells they are."""
    from faultwire.blame.sharing import grouped
    from faultwire.report.explained import failures

    found: list[tuple[Outcomes, list[dict[str, Any]]]] = []
    for outcome in result.outcomes:
        played = {one.invocation.id: one for one in outcome.played}
        document = result.documents[outcome.phase.name]
        cells = failures(document, (baseline or {}).get(outcome.phase.name))
        signed = [((c["invariant"], c["scenario"], _fired(played[c["invocation"]])), c) for c in cells]
        found += [(outcome, group) for group in grouped(signed)]
    found.sort(key=lambda one: (WORST.index(one[1][0]["severity"]), -len(one[1])))
    return [_failure(number, outcome, cells) for number, (outcome, cells) in enumerate(found, 1)]


def _fired(played: Played) -> frozenset[str]:
    """The faults that had reached the agent."""
    from faultwire.trials.pins import pins_of

    return frozenset(pin.entry for pin in pins_of(played.history.exchanges))


def _failure(number: int, outcome: Outcomes, cells: list[dict[str, Any]]) -> _Failure:
    """The cells of a group, and which of them is searched: the one with the fewest decisions."""
    from faultwire.report import explained
    from faultwire.trials.pins import pins_of

    played = {one.invocation.id: one for one in outcome.played}
    pins = {c["invocation"]: pins_of(played[c["invocation"]].history.exchanges) for c in cells}
    cells = sorted(cells, key=lambda cell: len(pins[cell["invocation"]]))
    one = played[cells[0]["invocation"]]
    others = [each for each in outcome.played if each is not one]
    named = (*outcome.phase.invariants, *one.invocation.prompt.invariants)
    check: Any = next(check for check in named if check.label == cells[0]["invariant"])
    ordered = tuple(sorted(pins[cells[0]["invocation"]], key=lambda pin: pin.exchange))
    made = _Failure(number, cells, outcome.phase, one, others, check, ordered)
    if outcome.phase.name == "replay":
        made.why_not = explained.why_not("recorded")
    elif getattr(check, "over_all", False):
        made.why_not = explained.why_not("over-all")
    elif not ordered:
        made.why_not = explained.why_not("no-fault")
    return made


def _searched(
    failures: Sequence[_Failure],
    result: Result,
    config: Config,
    parts: Sequence[Part],
    wanted: Wanted,
    budget: int,
    *,
    quiet: bool,
) -> None:
    """Search one after the other; what each is to be told of is in it at the end."""
    from faultwire.blame.design import fewest_runs, usual_runs
    from faultwire.blame.sharing import Sharing
    from faultwire.report.explained import too_small, why_not

    able = [one for one in failures if not one.why_not]
    shares = Sharing(budget, [fewest_runs(len(one.pins)) for one in able])
    try:
        while (following := shares.next()) is not None:
            at, runs = following
            one, before = able[at], able[at].runs
            try:
                _search(one, result, config, parts, wanted, runs, quiet=quiet)
            except (FaultwireError, OSError) as error:
                one.why_not = why_not("broken", result.redact(str(error)))
            over = one.search is None or one.search.ended != "budget"
            shares.spent(at, one.runs - before, ended=over or bool(one.why_not))
            if one.search is not None and one.search.ended == "interrupted":
                raise KeyboardInterrupt
    except KeyboardInterrupt:
        for one in able:
            if one.found is None and not one.why_not:
                one.why_not = why_not("interrupted")
        return
    for one in able:
        if one.found is None and not one.why_not:
            size = len(one.pins)
            one.why_not = too_small(shares.left, fewest_runs(size), usual_runs(size))


def _search(
    one: _Failure,
    result: Result,
    config: Config,
    parts: Sequence[Part],
    wanted: Wanted,
    runs: int,
    *,
    quiet: bool,
) -> None:
    """Search with so many runs more, and write what is known. Raises FaultwireError, OSError."""
    from faultwire.cli._explained_trials import trials

    if one.search is None:
        _begin(one, result, config, parts, wanted, quiet=quiet)
    search, runner = one.search, one.runner
    assert search is not None
    assert runner is not None
    search.series.budget = replace(search.series.budget, runs=search.series.runs + runs)
    search.ended = "found"
    try:
        with trials(runner, config, one.phase, one.played.invocation, one.pins) as attempt:
            search.attempt = lambda coalition: _clean(attempt(coalition), result)
            search.run()
    finally:
        one.runs = search.series.runs
        if one.runs:
            _write(one, search, result)


def _clean(outcome: Any, result: Result) -> Any:
    return replace(outcome, reason=result.redact(outcome.reason))


def _begin(
    one: _Failure, result: Result, config: Config, parts: Sequence[Part], wanted: Wanted, *, quiet: bool
) -> None:
    from faultwire.blame.design import Design
    from faultwire.blame.session import Blaming
    from faultwire.campaign.ci_run import launch_settings
    from faultwire.cli._blamed_report import progress
    from faultwire.cli._blamed_subject import parts_of_faults
    from faultwire.cli._explained_trials import Invariant, runner
    from faultwire.trials.journal import Journal
    from faultwire.trials.series import Budget

    history, profile = one.played.history, one.played.invocation.scenario.profile
    # Only sessions of incidents have a tape of their own, and those are not searched.
    part = next(part for part in parts if part.replay is None)
    oracle = Invariant(one.check, one.played.invocation, one.others)
    one.runner = runner(launch_settings(config, wanted, part), result.tape, profile, history, oracle)
    design = Design(len(one.pins), ERROR, config.seed)
    blamed = parts_of_faults(one.pins, tuple(history.exchanges), profile)
    journal = Journal.open(result.folder / f"blame-{one.number}.jsonl", result.folder.name, "blame")
    if not quiet:
        say(f"{one.cells[0]['invariant']} in {one.played.invocation.id}: {counted(len(one.pins), 'part')}")
    one.search = Blaming(
        blamed, lambda _: NotImplemented, journal, Budget(0), design, (lambda *_: None) if quiet else progress
    )


def _write(one: _Failure, search: Blaming, result: Result) -> None:
    """The search's document and its page, beside the report."""
    from faultwire.blame.document import About, document
    from faultwire.report.blame import render
    from faultwire.runner.folder import RunFolder

    assert one.runner is not None
    history = one.played.history
    label = next(iter(result.documents.values()))["run"]["agent"]
    about = About(
        str(result.tape), history.session, None, label, result.redact(one.runner.oracle.description),
        search.design.seed, ERROR,
    )  # fmt: skip
    one.found = document(search, about, tuple(history.exchanges), result.redact)
    folder = RunFolder(result.folder)
    one.page = f"blame-{one.number}.html"
    folder.write(one.page, render(one.found))
    folder.write(f"blame-{one.number}.json", json.dumps(one.found, indent=1))
