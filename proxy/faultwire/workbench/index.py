"""All exchanges of a tape as rows, kept up to date by a thread of its own while the tape grows.

Every change of a row has a number (`revision`), so that whoever has seen the rows up to one asks for what
came after it.
"""

from __future__ import annotations

import threading
from collections import deque
from typing import TYPE_CHECKING, Any

from faultwire import clock
from faultwire.errors import TapeError
from faultwire.tape.read.follow import TapeFollower
from faultwire.workbench.row import content, row, transcript

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from faultwire.events import Recorded
    from faultwire.tape.read.follow import News
    from faultwire.tape.read.metadata import Note

LOOK_S = 0.02
"""Seconds between two looks at a tape that grows."""
READING_S = 0.01
"""Seconds that bodies are read for between two looks at what is new."""
BREATH_S = 0.002
"""Seconds after them in which requests of the page get the interpreter."""
RESTS, LONGEST_REST_S = 4.0, 0.1
"""For how many times as long as an urge took the writer is left alone after it, and the seconds at most."""
NOTES = 200
"""Notes that are kept, the newest."""
Place = tuple[str, int]


class TapeIndex:
    """The rows of one tape. `start` begins to read; `close` ends it. Methods may be called by any thread.

    While somebody listens, `urge` is called before each look: it has the tape's writer write what it has.
    Raises OSError once there is no writer any more.
    """

    def __init__(self, path: Path, urge: Callable[[], None] | None = None) -> None:
        self.path = path
        self._urge = urge
        self._rested = 0.0
        """The instant from which on the writer may be urged again."""
        self.rows: list[dict[str, Any]] = []
        self.recorded: list[Recorded] = []
        self.places: dict[Place, int] = {}
        self.notes: deque[Note] = deque(maxlen=NOTES)
        self.problem: str | None = None
        """Why reading stopped, where it did."""
        self.left = False
        """Is the server about to end?"""
        self._follower = TapeFollower.open(path)
        self._log: list[int] = []
        self._unread: deque[int] = deque()
        self._open: set[str] = set()
        self._counted: set[tuple[str, str]] = set()
        self._listeners: list[Callable[[], None]] = []
        self.sinks: list[Callable[[Recorded, dict[str, Any]], None]] = []
        """Who is given each exchange that has ended, with its row, by the thread that reads."""
        self._lock = threading.Lock()
        self._stop = threading.Event()
        self._caught_up = threading.Event()
        self._thread = threading.Thread(target=self._run, name="tape index", daemon=True)

    def leave(self) -> None:
        """Have all who listen go: the server ends."""
        self.left = True
        self.tell()

    def start(self) -> None:
        """Begin to read."""
        self._thread.start()

    def close(self) -> None:
        """End the thread and let the tape go."""
        self._stop.set()
        if self._thread.is_alive():
            self._thread.join()
        self._follower.close()

    def wait(self, seconds: float) -> bool:
        """Has all that was on the tape at the start been read? Waits so long at most."""
        return self._caught_up.wait(seconds)

    @property
    def revision(self) -> int:
        """The number of the last change."""
        return len(self._log)

    @property
    def events(self) -> int:
        """Events of the tape that have been read."""
        return self._follower.events

    @property
    def live(self) -> bool:
        """Is a session on the tape that has not ended?"""
        return bool(self._open) and self.problem is None

    def since(self, revision: int, most: int) -> tuple[int, list[dict[str, Any]]]:
        """The rows that changed after a revision, each once as it is now, and the revision reached."""
        with self._lock:
            reached = min(len(self._log), max(0, revision) + most)
            changed = dict.fromkeys(self._log[max(0, revision) : reached])
            return reached, [dict(self.rows[at]) for at in changed]

    def listen(self, listener: Callable[[], None]) -> Callable[[], None]:
        """Call it after every change, from the thread that reads; what is returned ends that."""
        with self._lock:
            self._listeners.append(listener)
        return lambda: self._listeners.remove(listener)

    # ------------------------------------------------------------ the thread

    def _run(self) -> None:
        try:
            while not self._stop.is_set():
                more = False
                self._hurry()
                if self._follower.changed() or not self._caught_up.is_set():
                    more = self._look()
                if not more:
                    self._caught_up.set()
                    self._stop.wait(BREATH_S if self._read_bodies() else LOOK_S)
        except TapeError as error:
            self._failed(error)

    def _hurry(self) -> None:
        began = clock.monotonic()
        if self._urge is None or not self._listeners or began < self._rested:
            return
        try:
            self._urge()
        except OSError:
            self._urge = None
        else:
            ended = clock.monotonic()
            self._rested = ended + rest_s(ended - began)

    def _failed(self, error: TapeError) -> None:
        self.problem = f"{error.code}: {error.message}"
        self._caught_up.set()
        self.tell()
        while not self._stop.is_set() and self._read_bodies():
            pass

    def _look(self) -> bool:
        news = self._follower.news()
        with self._lock:
            self._take(news)
        if news.exchanges or news.opened or news.ended or news.notes:
            self.tell()
        return news.more

    def _take(self, news: News) -> None:
        self._open |= set(news.opened)
        self._open -= set(news.ended)
        self.notes.extend(news.notes)
        for recorded in news.exchanges:
            place = (recorded.session, recorded.number)
            at = self.places.setdefault(place, len(self.rows))
            made = row(recorded, at)
            if at == len(self.rows):
                self.rows.append(made)
                self.recorded.append(recorded)
            else:
                self.rows[at], self.recorded[at] = made, recorded
            self._log.append(at)
            if recorded.ending != "open":
                self._unread.append(at)

    def _read_bodies(self) -> bool:
        """Read bodies for a moment; were there any to read?"""
        if not self._unread:
            return False
        until = clock.monotonic() + READING_S
        while self._unread and clock.monotonic() < until:
            at = self._unread.popleft()
            found = self._content(self.recorded[at])
            with self._lock:
                self.rows[at] = {**self.rows[at], **found}
                self._log.append(at)
            for sink in self.sinks:
                sink(self.recorded[at], self.rows[at])
        self.tell()
        return True

    def _content(self, recorded: Recorded) -> dict[str, Any]:
        """A body that cannot be read is told in its row; others are read all the same."""
        try:
            conversation = transcript(recorded)
            found = content(recorded, conversation)
        except TapeError as error:
            return {"read": True, "call": "", "gist": "", "problem": f"{error.code}: {error.message}"}
        # An answer that can be fetched again is used, and paid for, once.
        if conversation and conversation.answer_id is not None and conversation.charged is not None:
            answer = (recorded.session, conversation.answer_id)
            found["counted_elsewhere"] = answer in self._counted
            self._counted.add(answer)
        return found

    def tell(self) -> None:
        """Wake all who listen."""
        for listener in list(self._listeners):
            listener()


def rest_s(took_s: float) -> float:
    """How long the writer is left alone after an urge that took so long. A writer that is busy gathers, since
    a page that is looked at should not slow down what it shows."""
    return min(LONGEST_REST_S, max(LOOK_S, RESTS * took_s))
