"""Batches as tasks of a Dask scheduler (`faultwire[dask]`); its workers need neither faultwire nor its pins.

What is sent to them is a call of the standard library (`subprocess.run`): nothing of ours is unpickled there.

A task is retried by nobody but the campaign: what Dask reports as lost makes its cells free again, and the
first result of a cell is the one that counts, should Dask have run the task twice after all.

A scheduler that goes away loses all that is under way, and may be started again: it is looked for while the
campaign goes on watching its leases and limits, and has no slots until it is back with a worker.
"""

from __future__ import annotations

import logging
import socket
import subprocess
from contextlib import suppress
from queue import Empty, SimpleQueue
from typing import TYPE_CHECKING, Any

from faultwire import clock
from faultwire.campaign.engine import ERRORS, Ended
from faultwire.campaign.reconnect import Reconnect
from faultwire.errors import FaultwireError, UsageError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from faultwire.campaign.engine import Command

GONE = "the scheduler is gone"
REACH_S = 10.0
"""Seconds in which a scheduler must answer at first."""
GONE_S = 120.0
"""Seconds that a scheduler which was reached may be away, to be started again."""
PAUSE_S = 1.0
"""Seconds after which it is looked at whether the scheduler is there, where nothing ends."""
SHORTEST_S = 0.02
ANSWER_S = 5.0
"""Seconds in which one that listens again must answer."""


class DaskEngine:
    """The workers of a scheduler at an address such as `tcp://HOST:8786`."""

    def __init__(self, address: str) -> None:
        """Raises UsageError where the scheduler cannot be reached, or has no worker."""
        self.address = address
        self._distributed = _distributed()
        # What goes wrong is told by us; Dask would print the traces of its tries beside that.
        for name in ("distributed", "distributed.client"):  # Dask gives the second a level of its own
            logging.getLogger(name).setLevel(logging.CRITICAL)
        self._client = self._connect(REACH_S)
        self._away: Reconnect | None = None
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
        """Threads of all workers, as the scheduler knows them or knew them last; none while it is away."""
        if not self._here():
            return 0
        with suppress(OSError, TimeoutError, AttributeError):  # it may go while it is asked
            self._slots = sum(self._client.nthreads().values())
        return self._slots

    def _here(self) -> bool:
        """Is there a scheduler to ask?"""
        return self._client is not None and self._client.status == "running"

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
            self._futures[batch] = None
            self._ended.put((batch, None))
            return
        function, words, options = task(command, text)
        key = f"faultwire-{batch}-{self._number}"
        future = self._client.submit(function, words, key=key, pure=False, retries=0, **options)
        self._futures[batch] = future
        future.add_done_callback(lambda done: self._ended.put((batch, done)))

    def wait(self, seconds: float) -> Sequence[Ended]:
        """What has ended. Where the scheduler is gone, all that was under way is lost, and it is looked for,
        in this call and the next ones. Raises FaultwireError where it does not come back in time."""
        if self._away is not None:
            self._return(self._away, clock.monotonic() + max(0.0, seconds))
            return []
        found: list[tuple[str, Any]] = []
        with suppress(Empty):
            found.append(self._ended.get(timeout=min(max(0.0, seconds), PAUSE_S)))
            while True:
                found.append(self._ended.get_nowait())
        ended = [self._outcome(batch, future) for batch, future in found if self._is_awaited(batch, future)]
        return ended if self._here() else [*ended, *self._leave()]

    def _is_awaited(self, batch: str, future: Any) -> bool:
        """Is this the task that the batch waits for? One that was dropped may end as well."""
        return batch in self._futures and self._futures[batch] is future

    def _outcome(self, batch: str, future: Any) -> Ended:
        self._futures.pop(batch)
        if future is None:
            return Ended(batch, lost=GONE, away=True)
        if future.status == "finished":
            try:
                return ended(batch, future.result(timeout=REACH_S))
            except Exception as error:  # noqa: BLE001 - whatever the transport raises, the result is lost
                return Ended(batch, lost=f"its result is gone: {type(error).__name__}", away=True)
        if future.status == "error":
            return ended(batch, future.exception())
        return Ended(batch, lost=GONE, away=True)  # Dask cancels what it has no scheduler for

    def _leave(self) -> Sequence[Ended]:
        """The scheduler is gone: all that was under way is lost."""
        lost = [Ended(batch, lost=GONE, away=True) for batch in self._futures]
        self._futures.clear()
        self._let_go(1)
        self._away = Reconnect(clock.monotonic(), GONE_S)
        return lost

    def _return(self, away: Reconnect, until: float) -> None:
        """Look for the scheduler until a moment. It is back when it has a worker."""
        while self._away is not None:
            now = clock.monotonic()
            if away.over(now):
                raise self._stays_away()
            if not (pause := away.due(now)) and self._found():
                self._away = None
            elif now >= until:
                return
            else:
                clock.pause(min(max(pause, SHORTEST_S), until - now))

    def _found(self) -> bool:
        """Is there a scheduler again, with a worker?"""
        if not self._here():
            self._let_go(1)
            with suppress(UsageError):
                self._client = self._connect(ANSWER_S) if self._listens() else None
        try:
            return self._here() and bool(self._client.nthreads())
        except (OSError, TimeoutError, AttributeError):
            return False

    def _listens(self) -> bool:
        """Does anybody answer at the address? Asked first, since Dask would wait for one who does."""
        host, _, port = self.address.rpartition("://")[2].rpartition(":")
        try:
            socket.create_connection((host.strip("[]"), int(port)), ANSWER_S).close()
        except OSError:
            return False
        return True

    def _stays_away(self) -> FaultwireError:
        here = self._here()
        what = "came back without a worker" if here else "did not come back"
        return FaultwireError(
            f"the Dask scheduler at `{self.address}` went away and {what} within {GONE_S:g} s",
            code="campaign.engine",
            hint="start it and its workers again: the same command goes on with the results that are there",
        )

    def _let_go(self, seconds: float) -> None:
        client, self._client = self._client, None
        if client is not None:
            with suppress(OSError, TimeoutError):
                client.close(timeout=seconds)

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
        self._let_go(5)


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
