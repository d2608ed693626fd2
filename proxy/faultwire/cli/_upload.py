"""`--tapes` of commands that record: the tapes of a run go to a team's place while it runs, and after it."""

from __future__ import annotations

from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from contextlib import AbstractContextManager
    from pathlib import Path

    from faultwire.runner.started_run import Run
    from faultwire.store.live_upload import LiveUpload
    from faultwire.store.objects import Objects


class Upload:
    """Where the tapes of a run go. A place that fails changes nothing about the run, and is reported."""

    def __init__(self, place: str | None, project: str) -> None:
        self.place = place
        self._project = project
        self._objects: Objects | None = None
        self._live: LiveUpload | None = None

    def open(self) -> None:
        """Look whether the place can be used, before anything is played. Raises UsageError, and
        FaultwireError where nothing can be written there."""
        if self.place is None:
            return
        from hashlib import sha256

        from faultwire.store.objects import Objects
        from faultwire.store.tapes import blob_name

        self._objects = Objects(self.place)
        self._objects.put(blob_name(sha256(b"").hexdigest()), b"")

    @contextmanager
    def beside(self, run: Run) -> Iterator[None]:
        """While a run goes on, what has settled of its tapes is sent."""
        if self._objects is not None:
            from faultwire.store.live_upload import LiveUpload

            self._live = self._live or LiveUpload(self._objects)
            self._live.watch(run.tapes)
        yield

    def finish(self, folder: Path, *others: Path) -> None:
        """Send what is left of the tapes of a run that has ended, and say what came of it."""
        if self._objects is None:
            return
        from faultwire.cli.output import say
        from faultwire.errors import FaultwireError

        live, self._live = self._live, None
        if live is not None:
            live.close()
        found = {path.resolve() for path in (*folder.glob("*.tape"), *folder.glob("tapes/*.tape"), *others)}
        try:
            if live is not None and live.failed is not None:
                say(f"warning: sending the tape while it was recorded ended: {live.failed}")
            for path in sorted(found):
                self._push(self._objects, path)
        except FaultwireError as error:
            again = f"faultwire push {folder.name} --tapes {self.place} --project {self._project}"
            say(f"warning: not uploaded: {error.message}\n  hint: `{again}` goes on")

    def _push(self, objects: Objects, path: Path) -> None:
        from faultwire.cli.output import say, size_text
        from faultwire.store.tapes import push

        done = push(objects, path, self._project)
        whole = done.sent_bytes + done.known_bytes
        say(f"uploaded {path.name}: {done.digest}")
        say(f"  {size_text(whole)}, of which {size_text(done.known_bytes)} were there before it was sealed")


@contextmanager
def all_beside(run: Run, each: Sequence[Callable[[Run], AbstractContextManager[Any]]]) -> Iterator[None]:
    """All of what goes on beside a run, as one."""
    with ExitStack() as stack:
        for one in each:
            stack.enter_context(one(run))
        yield
