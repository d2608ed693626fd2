"""All exchanges of a tape as rows, kept up to date by a thread of its own while the tape grows.

The tape is the store. In memory are the newest rows, sums over all, and some bytes for each exchange that say
where on the tape it is (`places`).
"""

from __future__ import annotations

import threading
from collections import OrderedDict, deque
from typing import TYPE_CHECKING, Any

from faultwire import clock
from faultwire.errors import TapeError
from faultwire.exchange.session_state import KEPT
from faultwire.tape.read.call_identity import settled
from faultwire.tape.read.follow import TapeFollower
from faultwire.tape.read.span import SpanReader
from faultwire.workbench.paged import Exchanges, Rows
from faultwire.workbench.places import Places
from faultwire.workbench.row import content, row
from faultwire.workbench.totals import Totals

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
BUSY, OVER_S, BUSY_S = 150, 0.2, 0.5
"""Exchanges a second, over such a time, from which on the writer keeps its own pace, and for how long after
it: nobody reads so many lines one by one, and what is looked at should cost no more than what is not."""
NOTES = 200
"""Notes that are kept, the newest."""
BACKLOG = 2_000
"""Exchanges whose bodies wait to be read. With more, the tape is read on only when there are fewer again."""


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
        self._busy_until = self._came_since = 0.0
        self._came = 0
        self.places = Places()
        self.totals = Totals()
        self.notes: deque[Note] = deque(maxlen=NOTES)
        self.problem: str | None = None
        """Why reading stopped, where it did."""
        self.left = False
        """Is the server about to end?"""
        self._follower = TapeFollower.open(path)
        self._tape = SpanReader.open(path)
        self.recorded = Exchanges(self.places, self._tape)
        self.rows = Rows(self.places, self.recorded)
        self._unread: deque[tuple[Recorded, dict[str, Any]]] = deque()
        self._open: set[str] = set()
        self._counted: OrderedDict[tuple[str, str], None] = OrderedDict()
        """Answers of late that can be fetched again."""
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
        self._tape.close()

    def wait(self, seconds: float) -> bool:
        """Has all that was on the tape at the start been read? Waits so long at most."""
        return self._caught_up.wait(seconds)

    @property
    def revision(self) -> int:
        """The number of the last change."""
        return self.places.revision

    @property
    def events(self) -> int:
        """Events of the tape that have been read."""
        return self._follower.events

    @property
    def live(self) -> bool:
        """Is a session on the tape that has not ended?"""
        return bool(self._open) and self.problem is None

    @property
    def busy(self) -> bool:
        """Does more come than somebody reads line by line?"""
        return clock.monotonic() < self._busy_until

    def since(self, revision: int, most: int) -> tuple[int, list[dict[str, Any]]]:
        """The rows that changed after a revision, each once as it is now, and the revision reached."""
        with self._lock:
            change = self.places.since(revision, most)
        return change.reached, [dict(self.rows[at]) for at in change.places]

    def news(self, revision: int, newest: int) -> dict[str, Any]:
        """All that changed after a revision, for who shows a part of it: the rows among the `newest` of the
        list, the places of the `others`, the retries, and the sums."""
        with self._lock:
            count = len(self.places)
            change = self.places.since(revision, self.places.revision)
            retries = self.places.retries(None if revision == 0 else change.places)
            totals = self.totals.dump()
        shown = [at for at in change.places if at >= count - newest]
        others = [] if revision == 0 else [at for at in change.places if at < count - newest]
        rows = [self.rows[at] for at in sorted(shown)]
        return {
            "revision": change.reached, "count": count, "rows": rows, "others": others,
            "retries": retries, "totals": totals,
        }  # fmt: skip

    def listen(self, listener: Callable[[], None]) -> Callable[[], None]:
        """Call it after every change, from the thread that reads; what is returned ends that."""
        with self._lock:
            self._listeners.append(listener)
        return lambda: self._listeners.remove(listener)

    # ------------------------------------------------------------ the thread

    def _run(self) -> None:
        try:
            more = True
            while not self._stop.is_set():
                self._hurry()
                more = (self._follower.changed() or more) and self._look()
                while len(self._unread) > BACKLOG and not self._stop.is_set():
                    self._read_bodies()
                    self._stop.wait(BREATH_S)
                if not more:
                    self._caught_up.set()
                    self._stop.wait(BREATH_S if self._read_bodies() else LOOK_S)
        except TapeError as error:
            self._failed(error)

    def _hurry(self) -> None:
        began = clock.monotonic()
        if self._urge is None or self.busy or not self._listeners or began < self._rested:
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
        self._count(len(news.exchanges))
        with self._lock:
            self._take(news)
        if news.exchanges or news.opened or news.ended or news.notes:
            self.tell()
        return news.more

    def _count(self, exchanges: int) -> None:
        now, self._came = clock.monotonic(), self._came + exchanges
        over_s = now - self._came_since
        if over_s >= OVER_S:
            if self._came >= BUSY * over_s:
                self._busy_until = now + BUSY_S
            self._came, self._came_since = 0, now

    def _take(self, news: News) -> None:
        self._open |= set(news.opened)
        self._open -= set(news.ended)
        self.notes.extend(news.notes)
        for recorded, span in zip(news.exchanges, news.spans, strict=True):
            over, count = recorded.ending != "open", len(self.places)
            at = self.places.put(span, over=over)
            made = row(recorded, at)
            self.rows.keep(made)
            self.totals.take(made, new=at == count)
            if over:
                self._unread.append((recorded, made))

    def _read_bodies(self) -> bool:
        """Read bodies for a moment; were there any to read?"""
        if not self._unread:
            return False
        until = clock.monotonic() + READING_S
        while self._unread and clock.monotonic() < until:
            self._read(*self._unread.popleft())
        self.tell()
        return True

    def _read(self, stored: Recorded, known: dict[str, Any]) -> None:
        """Read the bodies of one exchange; others are read also where that fails."""
        try:
            recorded = settled(stored)
        except TapeError:
            recorded = stored
        found, answer = content(recorded)
        if answer is not None:
            found["counted_elsewhere"] = self._is_counted((recorded.session, answer))
        made = {**known, **found}
        key, _, n = found["call"].rpartition("/")
        with self._lock:
            self.places.read(made["at"], key, int(n or 0), elsewhere=found.get("counted_elsewhere", False))
            self.totals.content(made)
        self.rows.keep(made)
        for sink in self.sinks:
            sink(recorded, made)

    def _is_counted(self, answer: tuple[str, str]) -> bool:
        """An answer that can be fetched again is used, and paid for, once. Was this one?"""
        before = answer in self._counted
        self._counted[answer] = None
        self._counted.move_to_end(answer)
        while len(self._counted) > KEPT:
            self._counted.popitem(last=False)
        return before

    def tell(self) -> None:
        """Wake all who listen."""
        for listener in list(self._listeners):
            listener()


def rest_s(took_s: float) -> float:
    """How long the writer is left alone after an urge that took so long. A writer that is busy gathers, since
    a page that is looked at should not slow down what it shows."""
    return min(LONGEST_REST_S, max(LOOK_S, RESTS * took_s))
