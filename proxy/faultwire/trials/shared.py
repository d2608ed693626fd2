"""Trials that share one started run: an engine, a mock and a tape for many sessions, instead of one each.

Every trial has a session of its own with the dice of the session that failed, so that its faults are the
same as in a run of its own.
"""

from __future__ import annotations

import shutil
from contextlib import ExitStack
from dataclasses import replace
from typing import TYPE_CHECKING

from faultwire.runner.launch import start_run
from faultwire.trials.execute import trial_folder

if TYPE_CHECKING:
    from types import TracebackType

    from faultwire.runner.launch import LaunchSettings
    from faultwire.runner.started_run import Run
    from faultwire.trials.execute import TrialRunner
    from faultwire.trials.model import Outcome, Trial

EACH = 100
"""Trials of one started run; its tape, which nobody keeps, is no longer than that."""


class SharedRun:
    """A context in which sessions share a started run. It is started with the first of them, and anew after
    an error and after `each` sessions; `settings` with a tape of their own make one that stays."""

    def __init__(self, settings: LaunchSettings, session: str, each: int = EACH) -> None:
        self.settings = settings
        self.session = session
        self.each = each
        self._stack = ExitStack()
        self._run: Run | None = None
        self._made = 0

    def __enter__(self) -> SharedRun:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.end(kind, error, trace)

    def next(self) -> tuple[Run, str]:
        """The started run, and the name of its next session. Raises as `start_run` does."""
        if self._made >= self.each:
            self.end()
        run = self._run or self._start()
        self._made += 1
        return run, f"{self.session}~{self._made}"

    def _start(self) -> Run:
        settings = self.settings
        if settings.replay is not None and f"{self.session}~" not in settings.replay.sessions:
            # Sessions of other names are answered by the one that is repeated.
            named = {**settings.replay.sessions, f"{self.session}~": self.session}
            settings = replace(settings, replay=settings.replay.model_copy(update={"sessions": named}))
        run = self._stack.enter_context(start_run(settings, trial_folder(settings)))
        self._run = run
        return run

    def end(
        self,
        kind: type[BaseException] | None = None,
        error: BaseException | None = None,
        trace: TracebackType | None = None,
    ) -> None:
        """End the run, if it was started."""
        run, self._run, self._made = self._run, None, 0
        stack, self._stack = self._stack, ExitStack()
        if run is None:
            return
        try:
            if error is None:
                run.folder.end("finished")
            stack.__exit__(kind, error, trace)
        finally:
            shutil.rmtree(run.folder.path, ignore_errors=True)


class SharedTrials:
    """A context in which `run` runs trials, which share started runs."""

    def __init__(self, runner: TrialRunner) -> None:
        self.runner = runner
        self._shared = SharedRun(runner.settings, runner.session)

    def __enter__(self) -> SharedTrials:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._shared.end(kind, error, trace)

    def run(self, trial: Trial) -> Outcome:
        """Run the agent once. Raises as `TrialRunner.run` does."""
        run, name = self._shared.next()
        return self.runner.run_in(run, trial, name)
