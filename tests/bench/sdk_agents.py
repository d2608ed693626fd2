"""`python -m tests.bench.sdk_agents [--seed N] [--cases N] [--only NAME ...] [--json FILE [--again]]`: agents
on real SDKs, and whether `blame` finds what is planted on them.

20 agents of 3 to 10 calls, over the mock and through the real proxy. A delay fires on about 8 of 10 calls,
so that the first step and the first fault are not the same; causes are planted among these decisions as
`faultwire validate` does. Each set of decisions that a search asks for is run once by a process of its own,
and the whole and none of them three times: what reaches the agent has to be what was pinned. Whether a run
fails is drawn anew each time, from what had reached the agent. So a few hundred runs stand for the many
thousands that would deliver the same. Agents in Python are forked from a process that has imported the SDK
(`sdk_server.py`).

`--json` adds the outcomes to those that the file holds, so that the agents can be run in several pieces. It
also keeps what reached each agent in its real runs: `--again` searches anew with these, and runs an agent
only where a search asks for a set of decisions that was not run before.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.bench.blame import RUNS_A_STEP
from tests.e2e.agents import environments
from tests.e2e.agents.harness import KEYS, base_environment

from faultwire.agents._process import Processes
from faultwire.blame.design import Design
from faultwire.blame.planted import KINDS, Found, plants, simple_rules
from faultwire.blame.rates import Coalition
from faultwire.cli._validated import _as_json
from faultwire.dice import unit
from faultwire.profile.load import parse
from faultwire.runner.launch import LaunchSettings, start_run
from faultwire.trials.execute import TrialRunner
from faultwire.trials.model import Pin, Trial
from faultwire.trials.oracle import ExitCode
from faultwire.trials.pins import pins_of
from faultwire.trials.shared import SharedTrials

HERE = Path(__file__).parent
AGENTS = HERE.parent / "e2e" / "agents"
PROFILE = "faults: [{latency: {ms: 1}, trigger: {probability: 0.8}}]"
LIMIT_S = 120
AGAIN = 3
"""Runs of the whole and of the calm run."""
TARGETS = {"single": 0.95, "late": 0.95, "pair": 0.90, "none": 0.95}
COUNTED = {"single": "cause_first", "late": "cause_first", "pair": "exact", "none": "exact"}
CALLED = {
    "single": "a single step", "pair": "a pair, needed together",
    "late": "an early step whose effect shows late", "none": "nothing",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Agent:
    """An agent: the script that it is, and the words of each of its stages, one after the other."""

    name: str
    environment: str
    script: str
    stages: tuple[str, ...]
    imports: str = ""

    @property
    def is_node(self) -> bool:
        return self.script.endswith(".mjs")


def _mixed(sync: str) -> tuple[str, ...]:
    return (f"{sync}/whole", f"{sync}/stream", "tools", f"{sync}/whole", f"{sync}/stream")


WAYS = "whole stream tools"
LANGCHAIN = "langchain_openai langchain_anthropic langgraph.prebuilt"
PYTHON = (
    Agent("openai-3", "openai-3", "openai_agent.py", _mixed("sync"), "openai"),
    Agent("openai-3-async", "openai-3", "openai_agent.py", _mixed("async"), "openai"),
    Agent("openai-2", "openai-2", "openai_agent.py", _mixed("sync"), "openai"),
    Agent("openai-2-async", "openai-2", "openai_agent.py", _mixed("async"), "openai"),
    Agent("anthropic-2", "anthropic-2", "anthropic_agent.py", _mixed("sync"), "anthropic"),
    Agent("anthropic-2-async", "anthropic-2", "anthropic_agent.py", _mixed("async"), "anthropic"),
    Agent("anthropic-2-tools", "anthropic-2", "anthropic_agent.py", ("tools",) * 3, "anthropic"),
    Agent("generativeai", "google-generativeai-0", "generativeai_agent.py", (f"rest {WAYS}",) * 2),
    *(
        Agent(name, environment, script, (f"{name} {WAYS}",) * 2, imports)
        for script, name, environment, imports in (
            ("provider_agent.py", "openai-responses", "openai-3", "openai"),
            ("provider_agent.py", "google-genai", "google-genai-3", "google.genai"),
            ("provider_agent.py", "google-interactions", "google-genai-3", "google.genai"),
            ("provider_agent.py", "ollama", "ollama-0", "ollama"),
            ("framework_agent.py", "langchain-openai", "langchain-1", LANGCHAIN),
            ("framework_agent.py", "langchain-anthropic", "langchain-1", LANGCHAIN),
            ("framework_agent.py", "langgraph", "langchain-1", LANGCHAIN),
            ("framework_agent.py", "openai-agents", "openai-agents-0", "agents"),
            ("framework_agent.py", "pydantic-ai", "pydantic-ai-2", "pydantic_ai"),
        )
    ),
)
NODE = (
    Agent("node-openai", "node", "agent.mjs", tuple(f"openai {way}" for way in WAYS.split())),
    Agent("node-anthropic", "node", "agent.mjs", tuple(f"anthropic {way}" for way in WAYS.split())),
    Agent("node-ai", "node_ai", "agent.mjs", tuple(f"chat {way}" for way in WAYS.split())),
)
ALL = (*PYTHON, *NODE)


@contextmanager
def ready(agent: Agent, work: Path) -> Iterator[list[str]]:
    """The agent's command; what runs it in Python is there meanwhile."""
    if agent.is_node:
        script = environments.node(agent.environment) / agent.script
        yield ["node", str(HERE / "sdk_stages.mjs"), str(script), *agent.stages]
        return
    server, at = str(HERE / "sdk_server.py"), str(work / "sdk.socket")
    words = [str(environments.python(agent.environment)), server, at, str(AGENTS / agent.script)]
    with subprocess.Popen(
        [*words, agent.imports], stdout=subprocess.PIPE, env=base_environment(), text=True
    ) as process:
        assert process.stdout is not None
        try:
            if process.stdout.readline() != "ready\n":
                raise RuntimeError(f"{agent.name}: its SDK cannot be imported")
            yield [sys.executable, "-I", "-S", str(HERE / "sdk_client.py"), at, *agent.stages]
        finally:
            process.terminate()


class NotRunYet(Exception):
    """A set of decisions was asked for that no real run has had."""


class Delivered:
    """Which of an agent's decisions reach it, for each set of them that is pinned; each set is run once."""

    def __init__(self, trials: SharedTrials | None, pins: Sequence[Pin], seed: int) -> None:
        self.trials, self.pins, self.seed = trials, pins, seed
        self.known: dict[Coalition, Coalition] = {}
        self.runs = 0
        self.astray: list[str] = []

    def take(self, earlier: dict[str, Any]) -> None:
        """What is known from earlier runs of the agent."""
        self.known = {frozenset(pinned): frozenset(held) for pinned, held in earlier["delivered"]}
        self.runs, self.astray = earlier["runs"], list(earlier["astray"])

    def of(self, pinned: Coalition) -> Coalition:
        for _ in range(0 if pinned in self.known else 1 if 0 < len(pinned) < len(self.pins) else AGAIN):
            if self.trials is None:
                raise NotRunYet
            self.runs += 1
            outcome = self.trials.run(Trial(frozenset(self.pins[at] for at in pinned), self.seed))
            held = frozenset(at for at, pin in enumerate(self.pins) if pin in outcome.fired)
            if held != pinned or not outcome.exchanges:
                self.astray.append(f"{sorted(pinned)}: {sorted(held)} {outcome.reason}")
            self.known[pinned] = held
        return self.known[pinned]


def searched(
    agent: Agent, work: Path, seed: int, cases: int, earlier: dict[str, Any] | None = None
) -> dict[str, Any]:
    """What blame makes of the plants on an agent, with what that took; `earlier` is what it was before."""
    with suppress(NotRunYet):
        if earlier is not None:
            return _again(earlier, seed, cases)
    started = time.monotonic()
    profile = parse(PROFILE, "bench.yaml")
    settings = LaunchSettings("bench", mock=True, base=work / "state")
    with ready(agent, work) as command, start_run(settings) as run:
        environment = run.open_session("exec", profile, seed)
        Processes().run(tuple(command), environment, timeout_s=LIMIT_S)
        run.close_session("exec")
        exchanges = run.history("exec").exchanges
        pins = pins_of(exchanges)
        runner = TrialRunner(settings, profile, tuple(command), ExitCode(), LIMIT_S)
        places = [pin.exchange for pin in pins]
        with SharedTrials(runner) as trials:
            delivered = Delivered(trials, pins, seed)
            if earlier is not None and earlier["exchanges"] == places:
                delivered.take(earlier)
            found = _plants(delivered, places, len(exchanges), seed, cases)
        run.folder.end("finished")
    return {
        "agent": agent.name, "calls": len(exchanges), "decisions": len(pins), "exchanges": places,
        "runs": delivered.runs, "astray": delivered.astray, "kinds": found,
        "seconds": time.monotonic() - started,
        "delivered": [[sorted(pinned), sorted(held)] for pinned, held in delivered.known.items()],
    }  # fmt: skip


def _again(earlier: dict[str, Any], seed: int, cases: int) -> dict[str, Any]:
    delivered = Delivered(None, [None] * earlier["decisions"], seed)  # type: ignore[list-item]
    delivered.take(earlier)
    return earlier | {"kinds": _plants(delivered, earlier["exchanges"], earlier["calls"], seed, cases)}


def _plants(
    delivered: Delivered, exchanges: Sequence[int], calls: int, seed: int, cases: int
) -> list[dict[str, Any]]:
    """What is found of each kind, of decisions on these exchanges."""
    found = {kind: Found(kind) for kind in KINDS}
    for plant in plants(len(exchanges), cases, seed):
        design, rolls = Design(len(exchanges), seed=plant.seed), 0
        while (coalition := design.candidate()) is not None:
            rolls += 1
            rolled = unit(plant.seed, "bench", plant.kind, "run", rolls)
            design.record(coalition, rolled < plant.chance(delivered.of(coalition)))
        found[plant.kind].add(plant, design)
        if plant.causes:
            found[plant.kind].simple.append(simple_rules(plant, exchanges, calls))
    return [_as_json(one) for one in found.values()]


def summed(found: list[dict[str, Any]]) -> dict[str, dict[str, Any]]:
    """All agents by the kind of what was planted."""
    out: dict[str, dict[str, Any]] = {}
    for one in found:
        for kind in one["kinds"]:
            made = out.setdefault(kind["kind"], {"runs_a_step": [], "simple_rules": {}})
            for name in ("cases", "cause_first", "exact", "false_blame", "intervals", "intervals_that_cover"):
                made[name] = made.get(name, 0) + kind[name]
            for name, value in kind["simple_rules"].items():
                made["simple_rules"][name] = made["simple_rules"].get(name, 0.0) + value
            made["runs_a_step"] += [runs / one["decisions"] for runs in kind["runs"]]
    return out


def table(found: list[dict[str, Any]]) -> list[str]:
    """For the documentation."""
    rules = ("random", "first step", "last step", "first fault")
    found_in = "comes first | exactly these | false blame | intervals that cover | runs a step, median"
    lines = [f"| planted | plants | {found_in} | {' | '.join(rules)} |", "|---" * 11 + "|"]
    for kind, one in summed(found).items():
        cases, simple = one["cases"], one["simple_rules"]
        runs = sorted(one["runs_a_step"])[len(one["runs_a_step"]) // 2]
        cover = f"{one['intervals_that_cover'] / one['intervals']:.1%}" if one["intervals"] else ""
        cells = [f"{simple[rule] / cases:.0%}" if simple else "" for rule in rules]
        first, *rest = (f"{one[name] / cases:.0%}" for name in ("cause_first", "exact", "false_blame"))
        shares = ["" if kind == "none" else first, *rest, cover, f"{runs:.1f}"]
        lines.append(f"| {' | '.join([CALLED[kind], str(cases), *shares, *cells])} |")
    return lines


def missed(found: list[dict[str, Any]]) -> list[str]:
    """The targets that are missed, in words."""
    out = []
    for kind, one in summed(found).items():
        share = one[COUNTED[kind]] / one["cases"]
        out += [f"{kind}: {share:.1%} of {one['cases']}"] if share < TARGETS[kind] else []
        runs = sorted(one["runs_a_step"])[len(one["runs_a_step"]) // 2]
        out += [f"{kind}: {runs:.1f} runs a step"] if runs > RUNS_A_STEP else []
    out += [
        f"{one['agent']}: {len(one['astray'])} runs got other decisions" for one in found if one["astray"]
    ]
    return out


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.bench.sdk_agents")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--cases", type=int, default=5, help="plants of each kind on an agent")
    parser.add_argument("--only", nargs="+", choices=[agent.name for agent in ALL], metavar="NAME")
    parser.add_argument("--json", type=Path, metavar="FILE")
    parser.add_argument("--at-once", type=int, default=2)
    parser.add_argument("--again", action="store_true", help="search anew, with the runs that the file holds")
    parser.add_argument("--seconds", type=float, default=math.inf, help="begin with no agent after that")
    given = parser.parse_args()
    found = json.loads(given.json.read_text()) if given.json is not None and given.json.exists() else []
    earlier = {one["agent"]: one for one in found if "delivered" in one} if given.again else {}
    found = [one for one in found if one["agent"] not in earlier]
    known = {one["agent"] for one in found}
    os.environ.update(KEYS)
    chosen = [
        (agent, given.seed * 100 + number)
        for number, agent in enumerate(ALL, 1)
        if agent.name not in known and (given.only is None or agent.name in given.only)
    ]
    ends = time.monotonic() + given.seconds

    def one(asked: tuple[Agent, int]) -> dict[str, Any] | None:
        agent, seed = asked
        if time.monotonic() > ends:
            return None
        with tempfile.TemporaryDirectory() as work:
            made = searched(agent, Path(work), seed, given.cases, earlier.get(agent.name))
        print(
            f"{agent.name}: {made['decisions']} decisions on {made['calls']} calls, {made['runs']} runs, "
            f"{len(made['astray'])} astray, {made['seconds']:.0f} s {made['astray'][:2] or ''}",
            flush=True,
        )
        return made

    with ThreadPoolExecutor(given.at_once) as pool:
        for done in as_completed([pool.submit(one, asked) for asked in chosen]):
            if (made := done.result()) is None:
                continue
            found.append(made)
            if given.json is not None:
                rest = [one for name, one in earlier.items() if name not in {made["agent"] for made in found}]
                given.json.write_text(json.dumps([*found, *rest], indent=1))
    print("\n".join(table(found)))
    for line in missed(found):
        print(f"missed: {line}")
    return int(bool(missed(found)))


if __name__ == "__main__":
    raise SystemExit(main())
