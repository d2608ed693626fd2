"""Runs one invocation of a configuration again, with some of the decisions of faults that it had.

As `trials.execute` does for a command: but the agent is that of the configuration, which may be a server or a
function, and a run fails where one invariant does.
"""

from __future__ import annotations

import shutil
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING

from faultwire import clock

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from pathlib import Path

    from faultwire.blame.rates import Coalition
    from faultwire.checks._api import Check
    from faultwire.config.model import Config
    from faultwire.contract.cells import Invocation
    from faultwire.events import Bypass, History
    from faultwire.mitm.engine.client import SessionSummary
    from faultwire.profile.model import Profile
    from faultwire.runner.launch import LaunchSettings
    from faultwire.runner.phases import Phase
    from faultwire.runner.run import Played
    from faultwire.runner.started_run import Run
    from faultwire.trials.execute import TrialRunner
    from faultwire.trials.model import Outcome, Pin


@dataclass(frozen=True, slots=True)
class Invariant:
    """The oracle: does one invariant fail on the invocation? Some compare with the calm answers among the
    phase's `others`."""

    check: Check
    invocation: Invocation
    others: Sequence[Played]

    @property
    def description(self) -> str:
        """In words."""
        return f"the invariant `{self.check.label}` fails"

    def judge(self, history: History, tape: Path) -> tuple[bool | None, str]:
        """Does it? A run in which no fault was left is judged as well: here that is no scenario that did not
        happen, but the calm run."""
        from faultwire.contract.run_level import prepared

        pairs = [(one.invocation, one.history) for one in self.others]
        ready = prepared([*pairs, (self.invocation, history)])[-1][1]
        verdict = self.check.verdict(ready)
        failed = {"fail": True, "pass": False}.get(verdict.verdict)
        return failed, f"{self.check.label}: {verdict.explanation}"


@dataclass
class _Pinned:
    """A stage on which the session has a profile of its own, and the dice of the session that failed."""

    run: Run
    dice: str
    profile: Profile
    closed: SessionSummary | None = None

    def open_session(self, name: str, profile: Profile, seed: int) -> Mapping[str, str]:
        return self.run.open_session(name, self.profile, seed, self.dice)

    def close_session(self, name: str, bypassed: Sequence[Bypass] = (), more: int = 0) -> SessionSummary:
        self.closed = self.run.close_session(name, bypassed, more)
        return self.closed

    def history(self, name: str) -> History:
        return self.run.history(name)


def runner(
    settings: LaunchSettings, tape: Path, profile: Profile, history: History, oracle: Invariant
) -> TrialRunner:
    """How trials of an invocation are made: the mock answers where it answered everything, else the run's
    tape, and what that cannot answer is no outcome."""
    from faultwire.replay.settings import ReplaySettings
    from faultwire.trials.execute import TrialRunner, answers_of_faults

    mock = settings.mock and not settings.mock_except
    settings = replace(settings, command="explain", tape_name=None)
    if not mock:
        sessions = {f"{history.session}~": history.session}
        replay = ReplaySettings(tape=tape.absolute(), sessions=sessions)
        settings = replace(settings, mock=False, mock_except=(), script=None, replay=replay)
    made = frozenset() if mock else answers_of_faults(history.exchanges)
    return TrialRunner(settings, profile, (), oracle, session=history.session, made_by_faults=made)


@contextmanager
def trials(
    made: TrialRunner, config: Config, phase: Phase, invocation: Invocation, pins: Sequence[Pin]
) -> Iterator[Callable[[Coalition], Outcome]]:
    """A context in which the invocation can be run with some of its pins, on an engine and agent of its own.

    Raises as `start_run` and `prepared` do."""
    from faultwire.agents.make import prepared
    from faultwire.capture.bypass_watch import BypassWatch
    from faultwire.runner.launch import start_run
    from faultwire.runner.run import invoked
    from faultwire.trials.execute import trial_folder
    from faultwire.trials.model import Outcome, Trial

    folder, lookout, count = trial_folder(made.settings), BypassWatch(), 0
    try:
        with (
            start_run(made.settings, folder) as run,
            prepared(
                config.agent, partial(run.share, "server"), folder=run.folder.path, base=config.folder
            ) as agent,
        ):
            asked = phase.ask(invocation, network=agent.network)

            def attempt(coalition: Coalition) -> Outcome:
                nonlocal count
                count += 1
                started = clock.monotonic()
                trial = Trial(frozenset(pins[at] for at in coalition), config.seed)
                stage = _Pinned(run, made.session, made.pinned_profile(trial))
                name = f"{made.session}~x{count}"
                played = invoked(invocation, asked, agent, stage, config.seed, name, lookout.watch())
                seconds = clock.monotonic() - started
                if stage.closed is None or played.history.voids:
                    why = next(iter(played.history.voids), "its session could not be closed")
                    return Outcome(None, reason=why, seconds=seconds)
                return replace(made.judged(played.history, stage.closed, run.tape), seconds=seconds)

            yield attempt
            run.folder.end("finished")
    finally:
        shutil.rmtree(folder.path, ignore_errors=True)
