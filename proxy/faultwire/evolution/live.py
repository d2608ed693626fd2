"""Asks mutants on the wire: the agent's command behind the proxy, one session each, judged by an oracle."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from faultwire._core import sha256_hex
from faultwire.agents._process import Processes
from faultwire.checks._tools import asked
from faultwire.errors import AgentError
from faultwire.events import AgentResult
from faultwire.evolution.search import Seen

if TYPE_CHECKING:
    from collections.abc import Callable

    from faultwire.events import History
    from faultwire.evolution.mutant import Evolved
    from faultwire.evolution.search import Phase
    from faultwire.profile.model import Profile
    from faultwire.runner.started_run import Run
    from faultwire.trials.model import Oracle

PLACE = "{prompt}"
DICE = "evolution"
"""The session whose dice all runs have: a mutant meets the same faults as its prompt."""


@dataclass
class Asker:
    """Asks the agent; `answers` has the last answer to each mutant, `notify` is called after each run."""

    run: Run
    profile: Profile
    command: tuple[str, ...]
    oracle: Oracle
    timeout_s: float
    seed: int
    redact: Callable[[str], str]
    notify: Callable[[int, Phase, Evolved, Seen], None]
    answers: dict[str, str] = field(default_factory=dict)
    sessions: dict[str, str] = field(default_factory=dict)
    """The last session of each mutant."""

    def ask(self, mutant: Evolved, number: int, phase: Phase) -> Seen:
        """What one run shows. Raises AgentError where the agent does not start, and FaultError."""
        name = f"{phase}-{number:04}"
        words = [word.replace(PLACE, mutant.text) for word in self.command]
        data = mutant.text.encode() if words == list(self.command) else None
        environment = self.run.open_session(name, self.profile, self.seed, DICE)
        try:
            ended = Processes().run(words, environment, data=data, timeout_s=self.timeout_s)
        except AgentError as error:
            if error.code != "agent.prompt":
                raise
            return Seen(None, "", str(error))  # no argument can carry it: other mutants may still work
        finally:
            closed = self.run.close_session(name)
        result = AgentResult(ended.stdout, ended.code, ended.duration_s, ended.stderr, ended.timed_out)
        history = replace(
            self.run.history(name), agent=result, voids=closed.voids, prompt=mutant.text
        )  # fmt: skip
        seen = self._seen(history)
        self.answers[mutant.id] = self.redact(ended.stdout.strip())
        self.sessions[mutant.id] = name
        self.notify(number, phase, mutant, seen)
        return seen

    def _seen(self, history: History) -> Seen:
        shown = behaviour(history)
        if history.voids or not history.exchanges:
            return Seen(None, shown, (*history.voids, "no traffic came through the proxy")[0])
        if history.agent is not None and history.agent.timed_out:
            return Seen(True, shown, f"it was stopped after {self.timeout_s:g} s")
        failed, why = self.oracle.judge(history, self.run.tape)
        return Seen(failed, shown, self.redact(why))


def behaviour(history: History) -> str:
    """What an agent did, without what it said: the places that it called with their statuses, the tools that
    its model asked for, each run of equal ones once, and how it ended."""
    calls = [
        f"{one.request.method} {one.request.host}{one.request.path.partition('?')[0]} "
        f"{one.delivered.status if one.delivered is not None else one.ending}"
        for one in history.exchanges
    ]
    tools = [call.name for _, call in asked(history)]
    agent = history.agent
    code = "" if agent is None else "timed out" if agent.timed_out else str(agent.exit_code)
    return sha256_hex("\n".join([*_runs(calls), "", *_runs(tools), "", code]).encode("utf-8", "replace"))[:16]


def _runs(words: list[str]) -> list[str]:
    return [word for at, word in enumerate(words) if at == 0 or words[at - 1] != word]
