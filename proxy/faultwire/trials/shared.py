"""Trials that share one started run: an engine, a mock and a tape for many sessions, instead of one each.

Every trial has a session of its own with the dice of the session that failed, so that its faults are the
same as in a run of its own.
"""

from __future__ import annotations

import shutil
import threading
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from faultwire.runner.launch import start_run
from faultwire.trials.execute import trial_folder
from faultwire.trials.oracle import Command

if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import TracebackType

    from faultwire.runner.launch import LaunchSettings
    from faultwire.runner.started_run import Run
    from faultwire.trials.execute import TrialRunner
    from faultwire.trials.model import Outcome, Trial

EACH = 100
"""Trials of one started run; its tape, which nobody keeps, is no longer than that."""


@dataclass(eq=False)
class _Started:
    """A started run: how many sessions it has had, and how many are open."""

    run: Run
    stack: ExitStack
    made: int = 0
    open: int = 0

    def end(self, error: BaseException | None = None) -> None:
        """End it, and remove its folder."""
        try:
            if error is None:
                self.run.folder.end("finished")
            self.stack.__exit__(type(error) if error else None, error, error.__traceback__ if error else None)
        finally:
            shutil.rmtree(self.run.folder.path, ignore_errors=True)


class SharedRun:
    """A context in which sessions share a started run, several at once if need be. It is started with the
    first of them, and anew after `each` sessions; `settings` with a tape of their own make one that stays."""

    def __init__(self, settings: LaunchSettings, session: str, each: int = EACH) -> None:
        self.settings = settings
        self.name = session
        self.each = each
        self._now: _Started | None = None
        self._lock = threading.Lock()

    def __enter__(self) -> SharedRun:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.end(error)

    @contextmanager
    def session(self) -> Iterator[tuple[Run, str]]:
        """The started run, and the name of its next session, which ends with the context. Raises as
        `start_run` does."""
        with self._lock:
            if self._now is not None and self._now.made >= self.each:
                before, self._now = self._now, None
                if not before.open:
                    before.end()
            held = self._now = self._now or self._start()
            held.made += 1
            held.open += 1
            name = f"{self.name}~{held.made}"
        try:
            yield held.run, name
        finally:
            with self._lock:
                held.open -= 1
                if held is not self._now and not held.open:
                    held.end()

    def _start(self) -> _Started:
        settings = self.settings
        if settings.replay is not None and f"{self.name}~" not in settings.replay.sessions:
            # Sessions of other names are answered by the one that is repeated.
            named = {**settings.replay.sessions, f"{self.name}~": self.name}
            settings = replace(settings, replay=settings.replay.model_copy(update={"sessions": named}))
        stack = ExitStack()
        return _Started(stack.enter_context(start_run(settings, trial_folder(settings))), stack)

    def end(self, error: BaseException | None = None) -> None:
        """End the run, if it was started and no session is open."""
        with self._lock:
            now, self._now = self._now, None
            if now is not None and not now.open:
                now.end(error)


def shared_trials(runner: TrialRunner) -> SharedTrials | None:
    """Trials of a runner that share an engine; None where the oracle is a command: it gets the tape, and may
    not ask for the session that it is to judge."""
    return None if isinstance(runner.oracle, Command) else SharedTrials(runner)


class SharedTrials:
    """A context in which `run` runs trials, which share started runs. Used from several threads."""

    def __init__(self, runner: TrialRunner) -> None:
        self.runner = runner
        self._shared = SharedRun(runner.settings, runner.session)

    def __enter__(self) -> SharedTrials:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._shared.end(error)

    def run(self, trial: Trial, runner: TrialRunner | None = None) -> Outcome:
        """Run the agent once; with another `runner`, its command or its oracle, with the same settings.
        Raises as `TrialRunner.run` does."""
        with self._shared.session() as (run, name):
            return (runner or self.runner).run_in(run, trial, name)
