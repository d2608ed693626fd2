"""`python -m tests.bench.sdk_agents [--seed N] [--only NAME ...] [--json FILE]`: agents on real SDKs, and
whether `faultwire validate` finds what it plants on them, one cause of each kind an agent.

20 agents of 4 to 8 calls, over the mock and through the real proxy. A delay fires on about 8 of 10 calls,
so that the first step and the first fault are not the same. Each run is a process of its own; those in Python
are forked from one that has imported the SDK, which would else take most of the time (`sdk_server.py`).
`--json` adds the outcomes to those that the file holds, so that the agents can be run in several pieces.
"""

from __future__ import annotations

import argparse
import json
import math
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.bench.blame import RUNS_A_STEP
from tests.e2e.agents import environments
from tests.e2e.agents.harness import base_environment

HERE = Path(__file__).parent
AGENTS = HERE.parent / "e2e" / "agents"
FAULT = "latency: {ms: 1, probability: 0.8}"
LIMIT_S = 1500
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
    Agent("generativeai", "google-generativeai-0", "generativeai_agent.py", (f"rest {WAYS} whole",)),
    *(
        Agent(name, environment, script, (f"{name} {WAYS} whole",), imports)
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


def validated(agent: Agent, work: Path, seed: int, cases: int = 1) -> dict[str, Any]:
    """What `validate` says of an agent, with the seconds that it took."""
    faultwire = str(Path(sys.executable).with_name("faultwire"))
    asked = (
        "--cases",
        str(cases),
        "--no-shrink",
        "--seed",
        str(seed),
        "--max-runs",
        "4000",
        "--fault",
        FAULT,
    )
    started = time.monotonic()
    with ready(agent, work) as command:
        done = subprocess.run(
            [faultwire, "validate", "--mock", "-q", *asked, "--format", "json", "--", *command],
            cwd=work, env=base_environment(), capture_output=True, text=True, timeout=LIMIT_S, check=False,
        )  # fmt: skip
    if done.returncode:
        raise RuntimeError(f"{agent.name}: {done.stderr}")
    return {"agent": agent.name, "seconds": time.monotonic() - started, **json.loads(done.stdout)}


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
    lines = [f"| planted | agents | {found_in} | {' | '.join(rules)} |", "|---" * 11 + "|"]
    for kind, one in summed(found).items():
        cases, simple = one["cases"], one["simple_rules"]
        runs = sorted(one["runs_a_step"])[len(one["runs_a_step"]) // 2]
        cover = f"{one['intervals_that_cover'] / one['intervals']:.1%}" if one["intervals"] else ""
        first = "" if kind == "none" else f"{one['cause_first'] / cases:.0%}"
        cells = [f"{simple[rule] / cases:.0%}" if simple else "" for rule in rules]
        shares = [
            first,
            f"{one['exact'] / cases:.0%}",
            f"{one['false_blame'] / cases:.0%}",
            cover,
            f"{runs:.1f}",
        ]
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
    return out


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.bench.sdk_agents")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", nargs="+", choices=[agent.name for agent in ALL], metavar="NAME")
    parser.add_argument("--json", type=Path, metavar="FILE")
    parser.add_argument("--at-once", type=int, default=2)
    parser.add_argument("--seconds", type=float, default=math.inf, help="begin with no agent after that")
    given = parser.parse_args()
    found = json.loads(given.json.read_text()) if given.json is not None and given.json.exists() else []
    known = {one["agent"] for one in found}
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
            made = validated(agent, Path(work), seed)
        print(
            f"{agent.name}: {made['decisions']} decisions, {made['runs']} runs, {made['seconds']:.0f} s",
            flush=True,
        )
        return made

    with ThreadPoolExecutor(given.at_once) as pool:
        for done in as_completed([pool.submit(one, asked) for asked in chosen]):
            if (made := done.result()) is None:
                continue
            found.append(made)
            if given.json is not None:
                given.json.write_text(json.dumps(found, indent=1))
    print("\n".join(table(found)))
    for line in missed(found):
        print(f"missed: {line}")
    return int(bool(missed(found)))


if __name__ == "__main__":
    raise SystemExit(main())
