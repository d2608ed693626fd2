"""Batches as tasks of a Dask scheduler (`faultwire[dask]`); its workers need neither faultwire nor its pins.

What is sent to them is a call of the standard library (`subprocess.run`): nothing of ours is unpickled there.

A task is retried by nobody but the campaign: what Dask reports as lost makes its cells free again, and the
first result of a cell is the one that counts, should Dask have run the task twice after all.
"""

from __future__ import annotations

import subprocess
from contextlib import suppress
from queue import Empty, SimpleQueue
from typing import TYPE_CHECKING, Any

from faultwire import clock
from faultwire.campaign.engine import ERRORS, Ended
from faultwire.errors import FaultwireError, UsageError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from faultwire.campaign.engine import Command

REACH_S = 10.0
"""Seconds in which a scheduler must answer at first."""
GONE_S = 120.0
"""Seconds that a scheduler which was reached may be away, to be started again."""
PAUSE_S = 1.0


class DaskEngine:
    """The workers of a scheduler at an address such as `tcp://HOST:8786`."""

    def __init__(self, address: str) -> None:
        """Raises UsageError where the scheduler cannot be reached, or has no worker."""
        self.address = address
        self._distributed = _distributed()
        self._client = self._connect(REACH_S)
        self._futures: dict[str, Any] = {}
        self._ended: SimpleQueue[tuple[str, Any]] = SimpleQueue()
        self._number = 0
        self._slots = 0
        if not self.slots:
            self.close()
            raise UsageError(
                f"the Dask scheduler at `{address}` has no worker, expected at least one",
                code="usage.on",
                hint=f"start some: `dask worker {address}`",
            )

    def _connect(self, seconds: float) -> Any:
        try:
            return self._distributed.Client(self.address, timeout=seconds, set_as_default=False)
        except (OSError, TimeoutError) as error:
            raise UsageError(
                f"found no Dask scheduler at `{self.address}`: {str(error)[:200]}",
                code="usage.on",
                hint="start one: `dask scheduler`, and on each machine `dask worker HOST:8786`",
            ) from error

    @property
    def slots(self) -> int:
        """Threads of all workers, as the scheduler knows them now, or knew them last."""
        if self._here():
            with suppress(OSError, TimeoutError, AttributeError):  # it may go while it is asked
                self._slots = sum(self._client.nthreads().values())
        return self._slots

    def _here(self) -> bool:
        """Is there a scheduler to ask?"""
        return bool(self._client.status == "running")

    def ask(self, command: Command, text: str) -> Sequence[tuple[str, Ended]]:
        """Run a command on every worker; one that goes away meanwhile is none. Raises FaultwireError where
        none is left."""
        function, words, options = task(command, text)
        try:
            found = self._client.run(function, words, on_error="return", **options)
        except OSError as error:
            raise FaultwireError(f"the scheduler is gone: {error}", code="campaign.engine") from error
        answers = [(worker, ended("", done)) for worker, done in sorted(found.items())]
        left = [(worker, one) for worker, one in answers if not one.lost]
        if not left:
            why = sorted({one.lost for _, one in answers})
            raise FaultwireError(f"no worker could be asked: {'; '.join(why)}", code="campaign.engine")
        return left

    def submit(self, batch: str, command: Command, text: str) -> None:
        """Start a batch."""
        self._number += 1
        if not self._here():
            self._futures[batch] = None  # `wait` finds that it is lost
            return
        function, words, options = task(command, text)
        key = f"faultwire-{batch}-{self._number}"
        future = self._client.submit(function, words, key=key, pure=False, retries=0, **options)
        self._futures[batch] = future
        future.add_done_callback(lambda done: self._ended.put((batch, done)))

    def wait(self, seconds: float) -> Sequence[Ended]:
        """What has ended. Where the scheduler is gone, all that was under way is lost, and it is waited for
        until it is there again. Raises FaultwireError where it does not come back."""
        try:
            found = [self._ended.get(timeout=min(max(0.0, seconds), PAUSE_S))]
            with suppress(Empty):
                while True:
                    found.append(self._ended.get_nowait())
        except Empty:
            if self._here():
                return []
            return self._again()
        return [self._outcome(batch, future) for batch, future in found if batch in self._futures]

    def _outcome(self, batch: str, future: Any) -> Ended:
        self._futures.pop(batch)
        if future.status == "finished":
            try:
                return ended(batch, future.result(timeout=REACH_S))
            except Exception as error:  # noqa: BLE001 - whatever the transport raises, the result is lost
                return Ended(batch, lost=f"its result is gone: {type(error).__name__}")
        if future.status == "error":
            return ended(batch, future.exception())
        return Ended(batch, lost="the scheduler has given it up")

    def _again(self) -> Sequence[Ended]:
        """All that was under way is lost; wait for the scheduler."""
        lost = [Ended(batch, lost="the scheduler is gone") for batch in self._futures]
        self._futures.clear()
        deadline = clock.monotonic() + GONE_S
        with suppress(OSError, TimeoutError):
            self._client.close(timeout=1)
        while True:
            try:
                self._client = self._connect(PAUSE_S * 5)
                if self.slots:
                    return lost
                self._client.close(timeout=1)
            except UsageError as error:
                if clock.monotonic() > deadline:
                    raise FaultwireError(error.message, code="campaign.engine", hint=error.hint) from error
            if clock.monotonic() > deadline:
                raise FaultwireError("the scheduler came back without workers", code="campaign.engine")
            clock.pause(PAUSE_S)

    def stop(self, batch: str) -> None:
        """Dask cannot ask a task that runs to end early: it goes on, and nobody waits for its answer."""
        self.drop(batch)

    def drop(self, batch: str) -> None:
        """Cancel what has not begun."""
        future = self._futures.pop(batch, None)
        if future is not None:
            future.cancel()

    def close(self) -> None:
        """Let go of the scheduler and of all tasks."""
        for batch in list(self._futures):
            self.drop(batch)
        with suppress(OSError, TimeoutError):
            self._client.close(timeout=5)


def task(command: Command, text: str) -> tuple[Callable[..., Any], list[str], dict[str, Any]]:
    """What a worker of Dask runs: a function, its argument, and options."""
    data = text.encode("utf-8", "surrogatepass")
    return subprocess.run, list(command.words), {"cwd": command.folder, "input": data, "capture_output": True}


def ended(batch: str, done: object) -> Ended:
    """What came of a task: a finished process, or the exception in its place."""
    if isinstance(done, subprocess.CompletedProcess):
        lost = f"its command was ended by signal {-done.returncode}" if done.returncode < 0 else ""
        errors = done.stderr.decode("utf-8", "replace")[-ERRORS:]
        return Ended(batch, done.returncode, done.stdout, errors, lost)
    if isinstance(done, FileNotFoundError | PermissionError | NotADirectoryError):
        return Ended(batch, 127, b"", f"cannot start it: {done}")
    return Ended(batch, lost=f"{type(done).__name__}: {str(done)[:200]}")


def _distributed() -> Any:
    try:
        import distributed
    except ImportError as error:
        raise UsageError(
            "found no `distributed`, expected it for `--on dask://…`",
            code="usage.on",
            hint="pip install 'faultwire[dask]'",
        ) from error
    return distributed
