"""Makes the attempts of a search on the wire: the agent's command behind the proxy, one session each."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import TYPE_CHECKING

from faultwire import clock
from faultwire.agents._process import Processes
from faultwire.attacker.grid import ENTRY, Cell, as_yaml, entry
from faultwire.attacker.journal import Calm, Observed
from faultwire.attacker.judge import Shown, judged, traffic, usual_words
from faultwire.attacker.model import WORDING
from faultwire.attacker.rewording import reworded
from faultwire.events import AgentResult
from faultwire.faults.attack._library import registry
from faultwire.profile.across import joined
from faultwire.profile.load import inline
from faultwire.trials.execute import cost_of

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from faultwire.attacker.journal import Journal
    from faultwire.attacker.search import Attempt, Stage
    from faultwire.events import History
    from faultwire.faults.attack._library import Payload
    from faultwire.profile.model import Profile
    from faultwire.runner.started_run import Run


Texts = Mapping[tuple[str, int], str]
"""What a model made of texts (family, number)."""


def text_of(cell: Cell, payload: int, seed: int, written: Texts = MappingProxyType({})) -> str | None:
    """The text of an attempt, with `{canary}` where it has one; None where it has no such wording."""
    if cell.wording == WORDING:
        return written.get((cell.family, payload))
    one = registry()[cell.family].payloads[payload]
    return reworded(one.text, cell.wording, one.name, seed)


def unworded(
    families: Sequence[str], wordings: Sequence[str], seed: int, written: Texts = MappingProxyType({})
) -> frozenset[tuple[str, int, str]]:
    """The texts (family, number, wording) that have no such wording: not all letters have leetspeak."""
    return frozenset(
        (name, at, wording)
        for name in families
        for at in range(len(registry()[name].payloads))
        for wording in wordings
        if text_of(Cell(name, "", "", wording), at, seed, written) is None
    )


@dataclass
class Player:
    """Plays attempts in a run that was started; those that the journal holds are not made again. `base` is
    the user's own profile, `notify` is called after each."""

    run: Run
    base: Profile
    command: tuple[str, ...]
    timeout_s: float
    seed: int
    journal: Journal
    redact: Callable[[str], str]
    notify: Callable[[int, Attempt, Observed], None]
    written: Texts = field(default_factory=dict)
    made: int = 0
    """Runs of this start."""
    _words: frozenset[str] = field(default_factory=frozenset)

    def calm(self) -> Calm:
        """The run without attacks, which says what can carry one."""
        if self.journal.calm is None:
            name = "calm-0000"
            history, answer = self._agent(name, self.base)
            found = traffic(history) if not history.voids else frozenset()
            calm = Calm(tuple(sorted(found)), _calls(history), usual_words(answer), str(self.run.tape), name)
            self.journal.append_calm(calm)
        assert self.journal.calm is not None
        return self.journal.calm

    def play(self, attempt: Attempt, number: int) -> Stage:
        """What one attempt comes to. Raises AgentError where the agent does not start, and FaultError."""
        observed = self.journal.earlier.get(attempt.key)
        if observed is None:
            observed = self._attempt(attempt, number)
            self.journal.append(attempt.key, observed)
        self.notify(number, attempt, observed)
        return observed.stage

    def _attempt(self, attempt: Attempt, number: int) -> Observed:
        started = clock.monotonic()
        name, tape = f"{attempt.phase}-{number:04}", str(self.run.tape)
        payload = registry()[attempt.cell.family].payloads[attempt.payload]
        text = text_of(attempt.cell, attempt.payload, self.seed, self.written)
        if text is None:
            return Observed("unplaced", f"{payload.name} has no such wording", tape, name)
        history, answer = self._agent(name, attacked(self.base, attempt.cell, text))
        shown = self._judged(history, answer, payload)
        seconds = round(clock.monotonic() - started, 3)
        evidence = self.redact(shown.evidence)
        return Observed(
            shown.stage, evidence, tape, name, shown.exchange, shown.shown_by, seconds, cost_of(history).usd
        )

    def _judged(self, history: History, answer: str, payload: Payload) -> Shown:
        calm = self.calm()
        shown = judged(history, answer, payload, calm.calls)
        if shown.stage == "obeyed" and payload.shows == "word" and payload.word in calm.words:
            return Shown("read", "the agent says that word anyway", shown.exchange)
        return shown

    def _agent(self, name: str, profile: Profile) -> tuple[History, str]:
        """Run the agent once; its traffic and its answer."""
        environment = self.run.open_session(name, profile, self.seed)
        try:
            ended = Processes().run(self.command, environment, timeout_s=self.timeout_s)
        finally:
            closed = self.run.close_session(name)
        self.made += 1
        result = AgentResult(ended.stdout, ended.code, ended.duration_s, ended.stderr, ended.timed_out)
        history = replace(self.run.history(name), agent=result, voids=closed.voids)
        return history, ended.stdout


def attacked(base: Profile, cell: Cell, text: str) -> Profile:
    """The user's profile with one attack: the same, line for line, as `--fault` of its command makes."""
    fault = inline(as_yaml({**entry(cell, text), "id": ENTRY}))
    return joined([base, fault.model_copy(update={"name": ENTRY, "path": ENTRY})])


def _calls(history: History) -> int:
    from faultwire.checks._tools import uses

    return len(uses(history))
