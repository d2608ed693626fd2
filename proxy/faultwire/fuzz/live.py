"""Plays cases on the wire: the agent's command behind the proxy, one session each."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from faultwire.agents._process import Processes
from faultwire.errors import AgentError, UsageError
from faultwire.events import AgentResult
from faultwire.fuzz.case import ENTRY, Case
from faultwire.fuzz.crash import crash_of
from faultwire.fuzz.discover import surface
from faultwire.fuzz.journal import Calm, Kept
from faultwire.fuzz.novelty import features, shape
from faultwire.fuzz.search import Seen

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from faultwire.events import History
    from faultwire.fuzz.case import Target
    from faultwire.fuzz.coverage import Coverage
    from faultwire.fuzz.grammar import Source
    from faultwire.fuzz.journal import Journal
    from faultwire.fuzz.search import Phase, Reached
    from faultwire.profile.model import Profile
    from faultwire.runner.started_run import Run

PLACE = "{prompt}"
CALM = 2
"""Runs without generated texts: what only one of two shows is chance, and no news."""
WIDEST = 1 << 20
"""Characters of all texts that a new target may begin with."""
OUTPUT = 6000
"""Characters of what a crashed run printed last that are kept."""


@dataclass
class Player:
    """Plays in a run that was started; runs that the journal holds are not made again. `known` are features
    that need not be written down, `notify` is called after each run."""

    run: Run
    base: Profile
    command: tuple[str, ...]
    prompts: Sequence[str]
    timeout_s: float
    seed: int
    journal: Journal
    coverage: Coverage | None
    redact: Callable[[str], str]
    notify: Callable[[int, Phase, Case, Seen], None]
    known: set[str] = field(default_factory=set)
    _targets: set[Target] = field(default_factory=set)

    def calm(self) -> Calm:
        """The runs without generated texts. Raises UsageError where the agent fails by itself."""
        if self.journal.calm is None:
            found: set[str] = set()
            for number in range(CALM):
                history = self._agent(f"calm-{number:04}", Case())
                self._must_be_fine(history)
                found |= self._features(history)
            seen = surface(history, self.prompts)
            self.journal.append_calm(Calm(seen.sources, seen.unnamed, frozenset(found), CALM))
        assert self.journal.calm is not None
        self._targets = {one.target for one in self.journal.calm.sources}
        return self.journal.calm

    def play(self, case: Case, number: int, phase: Phase) -> Seen:
        """What one run shows. Raises AgentError where the agent does not start, and FaultError."""
        kept = self.journal.taken(number, case.id)
        if kept is None:
            kept = self._played(case, f"{phase}-{number:04}")
            self.journal.append(number, kept)
        self._targets |= {one.target for one in kept.seen.sources}
        self.notify(number, phase, case, kept.seen)
        return kept.seen

    def _played(self, case: Case, name: str) -> Kept:
        try:
            history = self._agent(name, case)
        except AgentError as error:
            if error.code != "agent.prompt":
                raise
            none: tuple[Reached, ...] = tuple("not" for _ in case.parts)
            return Kept(case.id, Seen(none, void=str(error)), session=name)
        return kept_of(case, history, self._seen(case, history), self.redact, str(self.run.tape))

    def _seen(self, case: Case, history: History) -> Seen:
        reached = tuple(reaches(case, history))
        if history.voids:
            return Seen(reached, void=history.voids[0])
        assert history.agent is not None
        crash = crash_of(history.agent, shape(history), limit_s=self.timeout_s)
        if crash is not None:
            title = self.redact(crash.title)
            return Seen(
                reached, crash=crash._replace(title=title, frames=tuple(map(self.redact, crash.frames)))
            )
        sources = tuple(
            one
            for one in surface(history, ()).sources
            if one.target not in self._targets and _fits(one, case)
        )
        self._targets |= {one.target for one in sources}
        return Seen(reached, frozenset(self._features(history) - self.known), sources=sources)

    def _features(self, history: History) -> frozenset[str]:
        reported = frozenset[str]() if self.coverage is None else self.coverage.features()
        return features(history) | reported

    def _agent(self, name: str, case: Case) -> History:
        """Run the agent once; its traffic, and how it ended."""
        prompt = case.prompt or (self.prompts[0] if self.prompts else None)
        words = list(self.command)
        if prompt is not None:
            words = [word.replace(PLACE, prompt) for word in words]
        data = prompt.encode() if prompt is not None and words == list(self.command) else None
        environment = self.run.open_session(name, case.profile(self.base), self.seed, ENTRY)
        if self.coverage is not None:
            environment = self.coverage.environment(environment)
        try:
            ended = Processes().run(words, environment, data=data, timeout_s=self.timeout_s)
        finally:
            closed = self.run.close_session(name)
        result = AgentResult(ended.stdout, ended.code, ended.duration_s, ended.stderr, ended.timed_out)
        return replace(self.run.history(name), agent=result, voids=closed.voids)

    def _must_be_fine(self, history: History) -> None:
        if history.voids or not history.exchanges:
            why = (*history.voids, "no traffic came through the proxy")[0]
            raise UsageError(
                f"found a run that proves nothing: {why}",
                code="fuzz.baseline",
                hint="`faultwire doctor -- CMD` shows whether its traffic comes through the proxy",
            )
        assert history.agent is not None
        crash = crash_of(history.agent, shape(history), limit_s=self.timeout_s)
        if crash is not None:
            raise UsageError(
                f"found an agent that fails without any generated text: {self.redact(crash.title)}",
                code="fuzz.baseline",
                hint="a crash counts where it exits 0 otherwise",
            )


def kept_of(case: Case, history: History, seen: Seen, redact: Callable[[str], str], tape: str) -> Kept:
    """A run, as the state file holds it; what it printed only where it crashed."""
    agent = history.agent
    output = answer = ""
    if agent is not None and seen.crash is not None:
        printed = "\n".join(filter(None, (agent.answer.strip(), agent.stderr.strip())))
        output, answer = redact(printed[-OUTPUT:]), redact(agent.answer.strip()[:OUTPUT])
    return Kept(case.id, seen, output, answer, tape, history.session)


def _fits(source: Source, case: Case) -> bool:
    """Is what a call gave its own, and not what a case put there?"""
    return case.part(source.target) is None and sum(map(len, source.bases.values())) < WIDEST


def reaches(case: Case, history: History) -> list[Reached]:
    """How far each part of a case came. A result that was replaced in a request to a model is read by the
    model, and not by the agent's own code; a prompt and a model's answer are handed to the agent."""
    fired: dict[str, set[str]] = {}
    for exchange in history.exchanges:
        for line in exchange.faults:
            if line.outcome == "fired":
                fired.setdefault(line.id, set()).add(exchange.kind)
    found: list[Reached] = []
    for number, part in enumerate(case.parts, 1):
        kinds = fired.get(f"{ENTRY}-{number}", set())
        if part.target.kind == "prompt":
            found.append("agent")
        else:
            only_model = kinds == {"llm"} and part.target.kind != "answer"
            found.append("not" if not kinds else "model" if only_model else "agent")
    return found
