"""What the event loop holds of one exchange: it keeps references, and the writer thread does the rest.

Every call is a few attribute writes. Producer and writer share this object without a lock: the
producer only sets fields once, appends to lists and finally sets `ending`; the writer reads
`ending` first, then deletes what it has consumed from the front of the lists. Both are atomic.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from faultwire.clock import monotonic_ns, wall_ms

if TYPE_CHECKING:
    from faultwire.events import Exchange, FaultFired, Request, Response
    from faultwire.tape.intake import Intake

Mark = tuple[int, bytes]
"""Nanoseconds since the exchange began, and the bytes that came then."""


class Recording:
    """One exchange on its way to the tape. Made by `TapeWriter.record`.

    `exchange` may be replaced until `request` is called (its kind and key may need the body).
    """

    __slots__ = (
        "_intake",
        "_queued",
        "delivered",
        "down",
        "ending",
        "exchange",
        "sent",
        "sent_body",
        "started_ms",
        "started_ns",
        "state",
        "told",
        "touched_at",
        "up",
        "upstream",
    )

    def __init__(self, exchange: Exchange, intake: Intake) -> None:
        self.exchange = exchange
        self.started_ns = monotonic_ns()
        self.started_ms = wall_ms()
        self.told: Request | None = None
        self.sent: Request | None = None
        self.sent_body: list[Mark] = []
        self.upstream: tuple[int, Response] | None = None
        self.up: list[Mark] = []
        self.delivered: tuple[int, Response] | None = None
        self.down: list[Mark] = []
        self.touched_at: int | None = None
        self.ending: tuple[int, str, str | None, tuple[FaultFired, ...]] | None = None
        self.state: Any = None
        self._intake = intake
        self._queued = False

    def request(self, request: Request) -> None:
        """The request as it came from the agent. Where `body` is None, `request_chunk` brings it."""
        if self._hears():
            self.told = request
            self._put(len(request.body or b""))

    def request_chunk(self, data: bytes) -> None:
        """Part of a request body that nobody held."""
        if self._hears():
            self.sent_body.append((monotonic_ns() - self.started_ns, data))
            self._put(len(data))

    def forwarded(self, request: Request) -> None:
        """The request as it went upstream; only where it differs from what came."""
        if self._hears():
            self.sent = request
            self._put(len(request.body or b""))

    def upstream_head(self, response: Response) -> None:
        """The head that upstream answered with; a body in it counts as one chunk."""
        if self._hears():
            now = monotonic_ns() - self.started_ns
            self.upstream = (now, response)
            if response.body:
                self.up.append((now, response.body))
            self._put(len(response.body or b""))

    def upstream_chunk(self, data: bytes) -> None:
        """Bytes of the body as upstream sent them."""
        if self._hears():
            self.up.append((monotonic_ns() - self.started_ns, data))
            self._put(len(data))

    def touched(self) -> None:
        """From here on what is delivered is recorded on its own, even if nothing is."""
        if self.touched_at is None and self._hears():
            self.touched_at = monotonic_ns() - self.started_ns

    def delivered_head(self, response: Response) -> None:
        """The head that the agent got, where it differs; a body in it counts as one chunk."""
        if self._hears():
            now = monotonic_ns() - self.started_ns
            self.delivered = (now, response)
            if response.body:
                self.touched()
                self.down.append((now, response.body))
            self._put(len(response.body or b""))

    def delivered_chunk(self, data: bytes) -> None:
        """Bytes of the body as the agent got them, where a fault touches the body."""
        if self._hears():
            self.touched()
            self.down.append((monotonic_ns() - self.started_ns, data))
            self._put(len(data))

    def end(self, ending: str, error: str | None = None, faults: tuple[FaultFired, ...] = ()) -> None:
        """The exchange is over; `ending` is one of `events.Recorded.ending`. What follows is ignored."""
        if self._hears():
            self.ending = (monotonic_ns() - self.started_ns, ending, error, faults)
            self._put(0)

    def picked(self) -> None:
        """Writer: from now on further calls queue this recording again."""
        self._queued = False

    def forget(self) -> int:
        """Let go of everything that is held; how many bytes of it the writer had yet to take."""
        size = 0
        for marks in (self.sent_body, self.up, self.down):
            count = len(marks)
            size += sum(len(data) for _, data in marks[:count])
            del marks[:count]
        told = self.state
        if self.told is not None and (told is None or not told.request):
            size += len(self.told.body or b"")
        if self.sent is not None and (told is None or not told.sent):
            size += len(self.sent.body or b"")
        self.told = self.sent = self.upstream = self.delivered = self.state = None
        return size

    def _hears(self) -> bool:
        """Is what is told still wanted? After the end nothing is, nor when nobody writes any more."""
        if self._intake.gone:
            self.forget()
            return False
        return self.ending is None

    def _put(self, size: int) -> None:
        self._intake.add(size)
        if not self._queued:
            self._queued = True
            self._intake.offer(self)
