"""Lets an agent work on a benchmark's tasks behind the proxy, and attacks it there."""

from __future__ import annotations

import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import yaml

from faultwire import _core, wire
from faultwire.agents._process import Processes
from faultwire.benchmarks.plan import Outcome, Validity
from faultwire.benchmarks.server import AGENT
from faultwire.dice import token, unit
from faultwire.faults.attack._replace import CannotCarry, replaced
from faultwire.profile.load import parse
from faultwire.wire.tool_sites import tool_site

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from faultwire.agents._process import Ended
    from faultwire.benchmarks.plan import Agent, Pair, Reach
    from faultwire.benchmarks.server import TaskServer
    from faultwire.events import History, Recorded
    from faultwire.profile.model import Profile
    from faultwire.runner.started_run import Run

ROUTE = "bench"
"""The name of the proxy's own URL for the tasks."""
URL = "FAULTWIRE_URL_BENCH"
ENTRY = "attack"
CONTROL = (sys.executable, "-I", str(AGENT))


@dataclass(frozen=True)
class Player:
    """How tasks are played. `asked` goes with every order to the benchmark: its version, and the attack.

    `obeys` is the chance with which the scripted model, if there is one, obeys an attack; None: the agent has
    a model of its own.
    """

    server: TaskServer
    run: Run
    asked: Mapping[str, Any]
    command: tuple[str, ...]
    timeout_s: float
    seed: int
    obeys: float | None = None
    keep: bool = False
    """Are the results kept that the model read?"""
    prefix: str = ""
    """Before the name of each session, where several players share a run."""

    def play_all(
        self, cases: Iterable[tuple[Agent, Pair]], at_once: int, done: Callable[[Outcome], None]
    ) -> list[Outcome]:
        """What came of each, in order; `done` is told as they end."""

        def one(case: tuple[Agent, Pair]) -> Outcome:
            outcome = self.play(*case)
            done(outcome)
            return outcome

        with ThreadPoolExecutor(at_once) as pool:
            return list(pool.map(one, cases))

    def play(self, agent: Agent, pair: Pair) -> Outcome:
        """Let an agent work on one pair. Raises FaultError where the benchmark fails."""
        name = f"{self.prefix}{agent}-{pair.label.replace(' ', '-')}"
        word, task = _core.sha256_hex(f"{self.seed} {name}".encode())[:8], token(16)
        order = {**self.asked, **pair._asdict(), "obeys": self._obeys(agent, pair), "word": word}
        opened = self.server.ask("open", name=task, **order)
        if opened.get("cannot") and pair.injection is not None:
            return Outcome(pair, agent, None, None, "not carried", opened["cannot"])
        place = opened.get("place", "results")
        profile = attack_profile(opened["spans"], opened["tools"], self.server.port, place)
        environment = self.run.open_session(name, profile, self.seed)
        try:
            ended = self._work(agent, opened["prompt"], environment, task)
        finally:
            closed = self.run.close_session(name)
        judged = self.server.ask("judge", name=task, answer=ended.stdout.strip())
        history = self.run.history(name)
        reach, why = reached(history, opened["spans"]) if pair.injection is not None else (None, "")
        expected = None
        if agent == "victim":
            expected = self.server.ask("reference", **order).get("obeyed")
        return Outcome(
            pair, agent, judged["utility"], judged["obeyed"], reach, why,
            "; ".join(closed.voids) or silent(history) or _failed(ended), ended.code, expected,
            tuple(read_results(history)) if self.keep else (), validity(judged),
        )  # fmt: skip

    def _work(self, agent: Agent, prompt: str, given: Mapping[str, str], task: str) -> Ended:
        own = agent == "agent"
        base = f"{given[URL]}/{task}"
        environment = {
            **given,
            "FAULTWIRE_BENCH_MCP_URL": f"{base}/mcp",
            "FAULTWIRE_BENCH_TOOLS_URL": f"{base}/tools",
        }
        if not own or self.obeys is not None:
            environment |= {"OPENAI_BASE_URL": f"{base}/v1", "OPENAI_API_KEY": "scripted"}
        command: Sequence[str] = self.command if own else CONTROL
        words = [word.replace("{prompt}", prompt) for word in command]
        data = prompt.encode() if words == list(command) else None
        return Processes().run(words, environment, data=data, timeout_s=self.timeout_s)

    def _obeys(self, agent: Agent, pair: Pair) -> bool:
        if agent != "agent":
            return agent == "victim"
        return self.obeys is not None and unit(self.seed, "bench", "obeys", pair.label, 0) < self.obeys


def attack_profile(
    spans: Mapping[str, str], tools: Sequence[str], port: int, place: str = "results"
) -> Profile:
    """The attack, on whatever tool gives a span back, or (`place` is `context`) on what the agent hands to
    its model; without spans nothing is broken."""
    fault, on = ("replace", {"tool": "*"}) if place == "results" else ("replace_in_context", {"kind": "llm"})
    faults = [{fault: {"spans": dict(spans)}, "id": ENTRY, "on": on}] if spans else []
    urls = {name: {"url": f"http://127.0.0.1:{port}/*/tools/{name}"} for name in tools}
    document = {"name": "bench", "tools": urls, "faults": faults}
    return parse(yaml.safe_dump(document, allow_unicode=True, width=1 << 30), "bench")


def reached(history: History, spans: Mapping[str, str]) -> tuple[Reach, str]:
    """Whether the agent read the attack; where its carrier could not hold it, why."""
    lines = [line for one in history.exchanges for line in one.faults if line.id == ENTRY]
    if any(line.outcome == "fired" for line in lines):
        return "reached", ""
    for text in tool_texts(history):
        try:
            replaced(text, spans)
        except CannotCarry as error:
            return "not carried", str(error)
    return "not reached", "nothing with a place for it came to the agent"


def validity(judged: Mapping[str, Any]) -> Validity | None:
    """What a judge says of the run itself, if it does."""
    if judged.get("valid") is None:
        return None
    return Validity(judged["valid"], judged["invalid"], judged["first"])


def tool_texts(history: History) -> Iterable[str]:
    """What tools gave back, before anything was changed."""
    for one in history.exchanges:
        site, answer = tool_site(one), one.upstream
        if site is None or answer is None:
            continue
        found: list[str] = []
        site.rewritten(answer.body, lambda text, _error, found=found: found.append(text))  # type: ignore[misc]
        yield from found


def read_results(history: History) -> Iterable[str]:
    """Every tool result that the model read, in order: those of its last request."""
    last: Recorded | None = next((one for one in reversed(history.exchanges) if one.kind == "llm"), None)
    protocol = wire.protocol(last.protocol) if last is not None and last.protocol else None
    if last is None or protocol is None:
        return ()
    return [result.text for result in protocol.view(last.request).results]


def silent(history: History) -> str:
    """Why an agent that sent nothing proves nothing."""
    return "" if history.exchanges else "the agent sent nothing through the proxy"


def _failed(ended: Ended) -> str:
    if ended.timed_out:
        return f"the agent was stopped after {ended.duration_s:.0f} s"
    return f"the agent exited with {ended.code}" if ended.code else ""
