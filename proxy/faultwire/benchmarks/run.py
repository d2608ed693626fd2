"""One run of a benchmark: its server, the proxy, the agent on every pair, and the controls beside it."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from faultwire.benchmarks.catalogue import BENCHMARKS
from faultwire.benchmarks.plan import Pair, spread, tasks
from faultwire.benchmarks.player import ROUTE, Player
from faultwire.benchmarks.report import document
from faultwire.benchmarks.server import TaskServer
from faultwire.errors import UsageError, did_you_mean
from faultwire.faults.attack._library import registry
from faultwire.runner.launch import start_run

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from faultwire.benchmarks.plan import Agent, Outcome
    from faultwire.runner.launch import LaunchSettings

OURS = "faultwire:"
"""Before the name of a family of our own library."""


@dataclass(frozen=True)
class Asked:
    """What was asked for."""

    benchmark: str
    python: Path
    package: str
    """The version of the benchmark's package, or the digest of its files."""
    release: str
    attack: str
    command: tuple[str, ...]
    seed: int = 42
    pairs: int | None = None
    suites: tuple[str, ...] = ()
    controls: int = 8
    timeout_s: float = 120.0
    at_once: int = 2
    obeys: float | None = None
    data: Path | None = None
    """The folder of a benchmark that is files."""


@dataclass(frozen=True)
class Result:
    """What came of it, and where it is written."""

    outcomes: tuple[Outcome, ...]
    document: dict[str, Any]
    folder: Path


def play(
    asked: Asked, settings: LaunchSettings, say: Callable[[str], None], done: Callable[[Outcome], None]
) -> Result:
    """Play it. Raises UsageError, FaultError and what starting the proxy raises."""
    about = BENCHMARKS[asked.benchmark]
    with TaskServer(asked.python, about.module, *([str(asked.data)] if asked.data else [])) as server:
        order = attack_order(asked.attack, server.about["attacks"], asked.release, templates=about.templates)
        all_pairs = [Pair(*found) for found in server.ask("pairs", version=asked.release)]
        cases = chosen(asked, all_pairs)
        say(f"{asked.benchmark} {asked.release}: {len(cases)} tasks, attack {asked.attack}")
        settings = replace(settings, reverse={**settings.reverse, ROUTE: f"http://127.0.0.1:{server.port}"})
        with start_run(settings) as run:
            player = Player(server, run, order, asked.command, asked.timeout_s, asked.seed, obeys=asked.obeys)
            outcomes = player.play_all(cases, asked.at_once, done)
            attacks = sum(pair.injection is not None for pair in all_pairs)
            found = document(outcomes, _about(asked, server.about["version"], attacks))
            run.folder.write("bench.json", json.dumps(found, indent=2) + "\n")
            run.folder.end("finished")
            return Result(tuple(outcomes), found, run.folder.path)


def chosen(asked: Asked, all_pairs: Sequence[Pair]) -> list[tuple[Agent, Pair]]:
    """Who works on what: the agent on each pair and on each of their tasks in peace, the controls on some."""
    known = list(dict.fromkeys(pair.suite for pair in all_pairs))
    for name in asked.suites:
        if name not in known:
            raise UsageError(
                f"found suite `{name}`, expected one of {', '.join(known)}",
                code="bench.suite",
                hint=did_you_mean(name, known),
            )
    wanted = [pair for pair in all_pairs if not asked.suites or pair.suite in asked.suites]
    pairs = spread([pair for pair in wanted if pair.injection is not None], asked.pairs)
    utility = BENCHMARKS[asked.benchmark].utility
    calm = tasks(pairs) if utility == "tasks" else [pair for pair in wanted if pair.injection is None]
    beside = spread([pair for pair in pairs if not pair.scored_wrong], asked.controls)
    return [
        *(("victim", pair) for pair in beside),
        *(("deaf", pair) for pair in beside),
        *(("agent", pair) for pair in calm),
        *(("agent", pair) for pair in pairs),
    ]


def attack_order(
    attack: str, known: Sequence[str], release: str, *, templates: bool = True
) -> dict[str, Any]:
    """What the benchmark is told of the attack: the name of one of its own, or a text of our library with
    `{goal}` where the attacker's task stands, if its attacks have such a goal (`templates`). Raises
    UsageError."""
    texts = {f"{OURS}{name}": one.template for name, one in registry().items() if one.template}
    own = texts if templates else {}
    if attack in own:
        return {"version": release, "attack": "", "template": own[attack]}
    if attack not in known:
        valid = [*known, *own]
        raise UsageError(
            f"found attack `{attack}`, expected one of {', '.join(valid)}",
            code="bench.attack",
            hint=did_you_mean(attack, valid),
        )
    return {"version": release, "attack": attack}


def _about(asked: Asked, version: str, pairs: int) -> dict[str, Any]:
    return {
        "benchmark": asked.benchmark,
        "package": asked.package or version,
        "release": asked.release,
        "pairs_of_release": pairs,
        "attack": asked.attack,
        "seed": asked.seed,
        "command": list(asked.command),
        "scripted_model": asked.obeys,
    }
