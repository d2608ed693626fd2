"""What `faultwire validate` does: plant causes on the user's agent, and search for them."""

from __future__ import annotations

import os
import shutil
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal

from faultwire.cli.output import columns, say, show, show_json
from faultwire.errors import FaultError, UsageError
from faultwire.text import counted

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from faultwire.blame.planted import Bars, Found, Plant
    from faultwire.blame.rates import Coalition
    from faultwire.cli.options import Traffic
    from faultwire.profile.model import Profile
    from faultwire.runner.launch import LaunchSettings
    from faultwire.trials.model import Pin

PLANTED = "latency: {ms: 1}"
"""What is planted unless something else is given: it fires on every call and changes nothing."""
MOST = 64
"""Decisions among which causes are planted."""
INTERRUPTED = 130
Ended = Literal["", "budget", "interrupted"]


@dataclass(frozen=True, slots=True)
class Asked:
    """The options that are `validate`'s own."""

    cases: int
    seed: int
    max_runs: int
    timeout: float
    live: bool
    shrink: bool
    check: bool
    format_: str
    quiet: bool


def validate(command: tuple[str, ...], asked: Asked, bars: Bars, traffic: Traffic) -> int:
    """Plant, search, and report; the exit code. Raises UsageError, ProfileError, FaultError."""
    from faultwire.blame.planted import KINDS, Found, plants, simple_rules
    from faultwire.capture import child

    if not (traffic.mock or traffic.script is not None or asked.live):
        raise UsageError(
            "found nobody who answers the agent, expected --mock, --script or --live", code="validate.answers"
        )
    child.find(command, os.environ)
    if not traffic.fault and not traffic.profile:
        traffic = replace(traffic, fault=(PLANTED,))
    profile = traffic.load()
    settings = replace(traffic.launch("validate", profile=profile), replay=None)
    pins, calls = fired(command, settings, profile, asked)
    planted = plants(len(pins), asked.cases, asked.seed)
    found = {kind: Found(kind) for kind in KINDS}
    spent, usual = 1, 0
    ended: Ended = ""
    try:
        usual = _affordable(len(planted), len(pins), asked)
        for plant in planted:
            kind = found[plant.kind]
            made, ended = _one(plant, kind, pins, command, asked, settings, profile, asked.max_runs - spent)
            spent += made
            if ended:
                break
            if plant.causes:
                kind.simple.append(simple_rules(plant, [pin.exchange for pin in pins], calls))
            if not asked.quiet:
                say(f"{plant.kind}: {kind.exact} of {kind.cases} exact, {counted(spent, 'run')} so far")
    except KeyboardInterrupt:
        ended = "interrupted"
    if ended:
        say(f"{sum(one.cases for one in found.values())} of {counted(len(planted), 'plant')} searched for")
    code = report(list(found.values()), spent, bars, asked, len(pins))
    if ended == "budget":
        raise FaultError(
            f"`--max-runs {asked.max_runs}` ended the search before every plant was searched for",
            code="validate.budget",
            hint=f"{counted(len(planted), 'plant')} usually take about {counted(usual, 'run')}; fewer "
            "--cases take less",
        )
    return INTERRUPTED if ended else code


def _affordable(plants: int, decisions: int, asked: Asked) -> int:
    """About how many runs it will take. Raises UsageError where the budget is less than half of that."""
    from faultwire.blame.design import usual_runs

    usual = 1 + plants * usual_runs(decisions) + (2 * decisions * plants if asked.shrink else 0)
    if not asked.quiet:
        among = f"{counted(plants, 'plant')} among {counted(decisions, 'decision')}"
        say(f"{among}; about {counted(usual, 'run')}, at most {asked.max_runs}")
    if asked.max_runs < usual // 2:
        raise UsageError(
            f"found `--max-runs {asked.max_runs}`, expected about {usual}: that is what "
            f"{counted(plants, 'plant')} usually take",
            code="validate.budget",
            hint="fewer --cases take fewer runs",
        )
    return usual


def fired(
    command: tuple[str, ...], settings: LaunchSettings, profile: Profile, asked: Asked
) -> tuple[tuple[Pin, ...], int]:
    """The decisions that fire in one run of the agent, and how many calls that makes. Raises UsageError
    where none fires."""
    from faultwire.agents._process import Processes
    from faultwire.runner.launch import start_run
    from faultwire.trials.execute import SESSION, trial_folder
    from faultwire.trials.pins import pins_of

    folder = trial_folder(settings)
    try:
        with start_run(settings, folder) as run:
            environment = run.open_session(SESSION, profile, asked.seed)
            Processes().run(command, environment, timeout_s=asked.timeout)
            closed = run.close_session(SESSION)
            exchanges = run.history(SESSION).exchanges
            pins = pins_of(exchanges)
            folder.end("finished")
    finally:
        shutil.rmtree(folder.path, ignore_errors=True)
    if not pins:
        none = "no fault fired on its traffic" if exchanges else "it sent no traffic through the proxy"
        raise UsageError(
            f"found no decision to plant a cause in: {closed.voids[0] if closed.voids else none}, expected "
            "an agent whose calls faults act on",
            code="validate.no_part",
            hint="`faultwire doctor -- CMD` shows whether its traffic comes through the proxy",
        )
    return pins[:MOST], len(exchanges)


def _one(
    plant: Plant,
    found: Found,
    pins: tuple[Pin, ...],
    command: tuple[str, ...],
    asked: Asked,
    settings: LaunchSettings,
    profile: Profile,
    left: int,
) -> tuple[int, Ended]:
    """Search for one plant; the runs that it took, and what ended it before it was found out."""
    from faultwire.blame.design import Design
    from faultwire.blame.planted import PlantedOracle
    from faultwire.shrink.search import Search
    from faultwire.trials.execute import TrialRunner
    from faultwire.trials.model import Trial
    from faultwire.trials.series import OutOfBudget
    from faultwire.trials.shared import SharedTrials

    oracle = PlantedOracle(plant, pins)
    runner = TrialRunner(settings, profile, command, oracle, asked.timeout)
    made = 0
    search: Search | None = None
    try:
        with SharedTrials(runner) as trials:

            def fails(coalition: Coalition) -> bool | None:
                nonlocal made
                if made >= left:
                    raise OutOfBudget
                made += 1
                return trials.run(Trial(frozenset(pins[at] for at in coalition), asked.seed)).failed

            design = Design(len(pins), seed=plant.seed)
            while (coalition := design.candidate()) is not None:
                design.record(coalition, fails(coalition))
            if asked.shrink and plant.causes:
                search = Search(len(pins), noise=max(0.01, plant.noise), seed=plant.seed)
                while (candidate := search.candidate()) is not None:
                    search.record(candidate, fails(candidate))
    except OutOfBudget:
        return made, "budget"
    except KeyboardInterrupt:
        return made, "interrupted"
    found.add(plant, design)
    if search is not None:
        found.add_shrunk(plant, search.smallest, search.trials)
    return made, ""


def report(found: list[Found], runs: int, bars: Bars, asked: Asked, decisions: int = 0) -> int:
    """Print what was found; 1 where `--check` was given and a bar is missed."""
    missed = bars.missed(found)
    if asked.format_ == "json":
        show_json(
            {
                "runs": runs,
                "decisions": decisions,
                "missed": missed,
                "kinds": [_as_json(one) for one in found],
            }
        )
    else:
        head = ("planted", "cases", "cause first", "exact", "false blame", "coverage", "runs", "shrink exact")
        show(columns(head, [_row(one) for one in found]))
        show(f"{counted(runs, 'run')}")
        for line in missed:
            show(f"below the bar: {line}")
    return int(asked.check and bool(missed))


def _simple(rules: Sequence[Mapping[str, float]]) -> str:
    shares = {name: sum(one[name] for one in rules) / len(rules) for name in rules[0]}
    return ", ".join(f"{name} {share:.0%}" for name, share in shares.items())


def _row(one: Found) -> tuple[str, ...]:
    covered = f"{sum(one.covered)}/{len(one.covered)}" if one.covered else ""
    shrunk = f"{one.shrunk}/{len(one.shrink_runs)}" if one.shrink_runs else ""
    first = f"{one.first}/{one.cases}" if one.kind != "none" else ""
    counts = first, f"{one.exact}/{one.cases}", f"{one.falsely}/{one.cases}"
    return (one.kind, str(one.cases), *counts, covered, str(sum(one.runs)), shrunk)


def _as_json(one: Found) -> dict[str, Any]:
    return {
        "kind": one.kind,
        "cases": one.cases,
        "cause_first": one.first,
        "exact": one.exact,
        "false_blame": one.falsely,
        "intervals": len(one.covered),
        "intervals_that_cover": sum(one.covered),
        "runs": one.runs,
        "shrink_exact": one.shrunk,
        "shrink_runs": one.shrink_runs,
        "simple_rules": {name: sum(rule[name] for rule in one.simple) for name in next(iter(one.simple), ())},
    }
