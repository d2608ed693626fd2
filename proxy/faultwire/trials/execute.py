"""Runs one trial: the agent's command behind a proxy of its own, with pinned faults, judged by an oracle."""

from __future__ import annotations

import shutil
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from faultwire import clock
from faultwire._core import sha256_hex
from faultwire.agents._process import Processes
from faultwire.checks._transcripts import charged, models
from faultwire.events import AgentResult
from faultwire.runner.folder import RunFolder
from faultwire.runner.launch import start_run
from faultwire.trials.model import Outcome, Pin, Spent, Tokens
from faultwire.trials.pins import pinned, pins_of
from faultwire.trials.repeats import digest_of

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from faultwire.events import Delivery, History, Recorded
    from faultwire.mitm.engine.client import SessionSummary
    from faultwire.profile.model import Profile
    from faultwire.runner.launch import LaunchSettings
    from faultwire.runner.started_run import Run
    from faultwire.trials.model import Oracle, Trial

SESSION = "exec"
"""The session's name, as `exec` calls it: the dice depend on it."""
NOT_ON_TAPE = "the tape lacks answers"
"""How the reason of an outcome begins that a tape cannot tell: the mock or the servers must answer."""
NOT_REACHED = "servers did not answer"
"""How the reason of an outcome begins in which a real server could not be reached."""
NEVER = 1_000_000_000
"""A call that no session comes to."""
AnswerKey = tuple[str, str, int, str]
"""Host, path, status and the hash of the body."""


@dataclass(frozen=True)
class TrialRunner:
    """How to run the agent. `settings` say who answers: the mock, or a tape. Trials are not kept, unless
    `run` is asked to keep the tape of one."""

    settings: LaunchSettings
    profile: Profile
    command: tuple[str, ...]
    oracle: Oracle
    timeout_s: float = 60.0
    session: str = SESSION
    made_by_faults: frozenset[AnswerKey] = frozenset()
    """Answers on the replayed tape that no server gave; a run that got one tells nothing of the agent."""
    expected: frozenset[str] | None = None
    """Where servers answer: the hosts that did when the run was recorded. A run in which one of them did not
    tells nothing of the agent."""

    def run(self, trial: Trial, *, keep: Path | None = None) -> Outcome:
        """Run the agent once; `keep` is where the tape is to stay, a file that does not exist.

        Raises UsageError and its kinds where the agent or the proxy cannot be started at all, and
        FaultError where faultwire fails. A run that proves nothing has the outcome None.
        """
        started = clock.monotonic()
        folder = trial_folder(self.settings)
        try:
            with start_run(replace(self.settings, tape=keep), folder) as run:
                outcome = self.run_in(run, trial, self.session)
                run.folder.end("finished")
        finally:
            shutil.rmtree(folder.path, ignore_errors=True)
        return replace(outcome, seconds=clock.monotonic() - started, tape=keep)

    def run_in(self, run: Run, trial: Trial, name: str) -> Outcome:
        """Run the agent once in a session of this name of a run that was started. Raises as `run` does."""
        started = clock.monotonic()
        history, closed = self._play(run, trial, name)
        outcome = self.judged(history, closed, run.tape)
        return replace(outcome, seconds=clock.monotonic() - started)

    def pinned_profile(self, trial: Trial) -> Profile:
        """The pinned profile. A tape gives the servers' answers only where there is a profile; for a run
        without faults, an entry is left that never fires."""
        profile = trial.profile or self.profile
        if trial.pins or self.settings.replay is None or not profile.entries:
            return pinned(profile, trial.pins)
        return pinned(profile, [Pin(profile.entries[0].id, NEVER)])

    def _play(self, run: Run, trial: Trial, name: str) -> tuple[History, SessionSummary]:
        profile = self.pinned_profile(trial)
        environment = run.open_session(name, profile, trial.seed, self.session, trial.answers)
        if self.settings.frozen is not None:
            environment = self.settings.frozen.environment(environment)
        ended = Processes().run(self.command, environment, timeout_s=self.timeout_s)
        closed = run.close_session(name)
        result = AgentResult(ended.stdout, ended.code, ended.duration_s, ended.stderr, ended.timed_out)
        return replace(run.history(name), agent=result, voids=closed.voids), closed

    def judged(self, history: History, closed: SessionSummary, tape: Path) -> Outcome:
        """What came of a session that was closed."""
        fired = frozenset(pins_of(history.exchanges))
        about: dict[str, Any] = {
            "exchanges": len(history.exchanges),
            "cost_usd": (spent := cost_of(history)).usd,
            "unpriced": spent.unpriced,
            "tokens": tokens_of(history),
            "fired": fired,
            "digest": self._digest(history),
        }
        if closed.voids:
            return Outcome(None, reason=closed.voids[0], **about)
        if not history.exchanges:
            return Outcome(None, reason="no traffic came through the proxy", **about)
        if lacking := self._missed(closed) + self._faked(history):
            calls = "1 call" if lacking == 1 else f"{lacking} calls"
            return Outcome(None, reason=f"{NOT_ON_TAPE} to {calls}", **about)
        if lost := self._unreached(history):
            return Outcome(None, reason=f"{NOT_REACHED}: {', '.join(lost[:3])}", **about)
        failed, why = self.oracle.judge(history, tape)
        return Outcome(failed, reason=why, **about)

    def _digest(self, history: History) -> str:
        """What came of the run; unknown where servers answer, which may say something else tomorrow."""
        code = None if history.agent is None else history.agent.exit_code
        return digest_of(history.exchanges, code) if self.expected is None else ""

    def _missed(self, closed: SessionSummary) -> int:
        """Calls that nobody could answer; where misses go to servers, there are none."""
        replay = self.settings.replay
        return closed.replay["missed"] if closed.replay and replay and replay.on_miss == "fail" else 0

    def _unreached(self, history: History) -> list[str]:
        """Servers that should have answered, and did not; what a fault had ended is left out."""
        lost = (
            exchange.request.host
            for exchange in history.exchanges
            if exchange.upstream is None
            and exchange.ending == "upstream_aborted"
            and not any(line.outcome == "fired" for line in exchange.faults)
        )
        return [host for host in dict.fromkeys(lost) if host in (self.expected or ())]

    def _faked(self, history: History) -> int:
        """Exchanges that the tape answered with what a fault had made."""
        if not self.made_by_faults:
            return 0
        served = (exchange for exchange in history.exchanges if exchange.upstream is not None)
        return sum(key_of(exchange, exchange.upstream) in self.made_by_faults for exchange in served)


def trial_folder(settings: LaunchSettings) -> RunFolder:
    """A folder for trials, which is none of a user's runs: whoever says `last` does not mean it, even if a
    killed search leaves it there."""
    base = settings.base / "trials"
    return RunFolder.create(settings.command, base=base, status="running", **settings.about)


def answers_of_faults(exchanges: Iterable[Recorded]) -> frozenset[AnswerKey]:
    """The answers of a session that faults gave in the server's place."""
    return frozenset(
        key_of(exchange, exchange.delivered)
        for exchange in exchanges
        if exchange.upstream is None and any(line.outcome == "fired" for line in exchange.faults)
    )


def answering_hosts(exchanges: Iterable[Recorded]) -> frozenset[str]:
    """The hosts of a session that were all right: those of which no call was lost without a fault."""
    hosts, lost = set[str](), set[str]()
    for exchange in exchanges:
        hosts.add(exchange.request.host)
        faulted = any(line.outcome == "fired" for line in exchange.faults)
        if exchange.ending == "upstream_aborted" and not faulted:
            lost.add(exchange.request.host)
    return frozenset(hosts - lost)


def key_of(exchange: Recorded, answer: Delivery | None) -> AnswerKey:
    """What an answer is known by; without one its status is 0."""
    body = b"" if answer is None else answer.body
    status = 0 if answer is None else answer.status
    return exchange.request.host, exchange.request.path, status, sha256_hex(body)


def cost_of(history: History) -> Spent:
    """What the models of a run would have cost, as far as prices and usage are known."""
    costs = [
        transcript.cost
        for exchange, transcript in models(history)
        if exchange.upstream is not None and exchange.upstream.status < 300
    ]
    known = [cost for cost in costs if cost is not None]
    return Spent(float(sum(known)), len(costs) - len(known))


def tokens_of(history: History) -> Tokens:
    """The tokens of all answers of models. An answer with an error status need not name any."""
    total = uncounted = 0
    for exchange in history.exchanges:
        if exchange.kind != "llm" or exchange.upstream is None:
            continue
        usage = charged(history, exchange)
        if usage is not None:
            total += usage.input_tokens + usage.output_tokens
        elif exchange.upstream.status < 300:
            uncounted += 1
    return Tokens(total, uncounted)
