"""What the event loop holds of one exchange: it keeps references, and the writer thread does the rest.

Every call is a few attribute writes. Producer and writer share this object without a lock: the
producer only sets fields once, appends to lists and finally sets `ending`; the writer reads
`ending` first, then deletes what it has consumed from the front of the lists. Both are atomic.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from faultwire.clock import monotonic_ns, wall_ms
from faultwire.events import Response

if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Protocol

    from faultwire.events import Arrival, Delivery, Exchange, FaultFired, Headers, Message, Request

    class Queue(Protocol):
        """Where recordings wait to be written: a `queue.WriteQueue`."""

        @property
        def gone(self) -> bool:
            """Is nothing written any more?"""

        @property
        def drops(self) -> bool:
            """Is what finds no room left out?"""

        @property
        def overflows(self) -> bool:
            """Does more wait than may?"""

        def add(self, size: int) -> None:
            """Bytes more are held for a recording."""

        def offer(self, item: Recording) -> None:
            """Let this recording be written."""


Trailers = tuple[str, int, "Headers"]
"""Which side, nanoseconds since the exchange began, and header fields."""

Mark = tuple[int, bytes]
"""Nanoseconds since the exchange began, and the bytes that came then."""


@dataclass(frozen=True, slots=True)
class Elsewhere:
    """An exchange that was recorded by somebody else: whole, and over.

    `delivered` None: the client got nothing; `upstream` is the same as `delivered` where nobody changed it.
    `started_ms` is since the epoch; the instants of chunks and messages are nanoseconds since then.
    """

    request: Request
    upstream: Delivery | None
    delivered: Delivery | None
    started_ms: int
    duration_ns: int
    ending: str = "complete"
    error: str | None = None
    messages: tuple[Message, ...] = ()


class Recording:
    """One exchange on its way to the tape. Made by `TapeWriter.record`.

    `exchange` may be replaced until `request` is called (its kind and key may need the body).
    """

    __slots__ = (
        "_intake",
        "_queued",
        "arrival",
        "delivered",
        "down",
        "ending",
        "exchange",
        "got_head",
        "http2",
        "lost",
        "messages",
        "received",
        "sent",
        "sent_body",
        "started_ms",
        "started_ns",
        "state",
        "touched_at",
        "trailing",
        "up",
        "upstream",
        "written",
    )

    def __init__(self, exchange: Exchange, intake: Queue) -> None:
        self.exchange = exchange
        self.started_ns = monotonic_ns()
        self.started_ms = wall_ms()
        self.received: Request | None = None
        self.sent: Request | None = None
        self.sent_body: list[Mark] = []
        self.upstream: tuple[int, Response] | None = None
        self.up: list[Mark] = []
        self.delivered: tuple[int, Response] | None = None
        self.down: list[Mark] = []
        self.touched_at: int | None = None
        self.trailing: list[Trailers] = []
        self.messages: list[Message] = []
        self.got_head = True
        self.http2 = False
        """Does the client speak HTTP/2? Set before `request` is called, and so is `arrival`."""
        self.arrival: Arrival | None = None
        self.lost = False
        """Part of it found no room; the tape is to say that it is missing."""
        self.ending: tuple[int, str, str | None, tuple[FaultFired, ...]] | None = None
        self.state: Any = None
        self.written = False
        """Writer: its end is in the log."""
        self._intake = intake
        self._queued = False

    def request(self, request: Request) -> None:
        """The request as it came from the agent. Where `body` is None, `request_chunk` brings it."""
        if self._is_open():
            self.received = request
            self._put(len(request.body or b""))

    def request_chunk(self, data: bytes) -> None:
        """Part of a request body that nobody held."""
        if self._is_open():
            self.sent_body.append((monotonic_ns() - self.started_ns, data))
            self._put(len(data))

    def forwarded(self, request: Request) -> None:
        """The request as it went upstream; only where it differs from what came."""
        if self._is_open():
            self.sent = request
            self._put(len(request.body or b""))

    def upstream_head(self, response: Response) -> None:
        """The head that upstream answered with; a body in it counts as one chunk."""
        if self._is_open():
            now = monotonic_ns() - self.started_ns
            self.upstream = (now, response)
            if response.body:
                self.up.append((now, response.body))
            self._put(len(response.body or b""))

    def upstream_chunk(self, data: bytes) -> None:
        """Bytes of the body as upstream sent them."""
        if self._is_open():
            self.up.append((monotonic_ns() - self.started_ns, data))
            self._put(len(data))

    def touched(self) -> None:
        """From here on what is delivered is recorded on its own, even if nothing is."""
        if self.touched_at is None and self._is_open():
            self.touched_at = monotonic_ns() - self.started_ns

    def delivered_head(self, response: Response) -> None:
        """The head that the agent got, where it differs; a body in it counts as one chunk."""
        if self._is_open():
            now = monotonic_ns() - self.started_ns
            self.delivered = (now, response)
            if response.body:
                self.touched()
                self.down.append((now, response.body))
            self._put(len(response.body or b""))

    def delivered_chunk(self, data: bytes) -> None:
        """Bytes of the body as the agent got them, where a fault touches the body."""
        self.delivered_chunks((data,))

    def delivered_chunks(self, pieces: Iterable[bytes]) -> None:
        """The same for several pieces that the agent got at once."""
        if self._is_open():
            now, size = monotonic_ns() - self.started_ns, 0
            if self.touched_at is None:
                self.touched_at = now
            for data in pieces:
                self.down.append((now, data))
                size += len(data)
            self._put(size)

    def trailers(self, side: str, headers: Headers) -> None:
        """Trailers after a body; `side` is `request`, `upstream`, or `delivered` where they differ."""
        if headers and self._is_open():
            self.trailing.append((side, self.now(), headers))
            self._put(0)

    def message(self, message: Message) -> None:
        """One message of a WebSocket whose fate is known."""
        if self._is_open():
            self.messages.append(message)
            self._put(len(message.data))

    def now(self) -> int:
        """Nanoseconds since the exchange began."""
        return monotonic_ns() - self.started_ns

    def undelivered(self) -> None:
        """The agent got nothing at all, whatever upstream sent."""
        self.got_head = False

    def end(self, ending: str, error: str | None = None, faults: tuple[FaultFired, ...] = ()) -> None:
        """The exchange is over; `ending` is one of `events.Recorded.ending`. What follows is ignored."""
        if self._is_open() or (self.lost and self.ending is None):
            self.ending = (monotonic_ns() - self.started_ns, ending, error, faults)
            self._put(0)

    def whole(self, foreign: Elsewhere, faults: tuple[FaultFired, ...] = ()) -> None:
        """All of an exchange that somebody else recorded, with the instants that they wrote down."""
        if not self._is_open():
            return
        self.started_ms, self.received = foreign.started_ms, foreign.request
        up, down = foreign.upstream, foreign.delivered
        if up is not None:
            self.upstream = (_first(up, foreign.duration_ns), _head(up))
            self.up += _marks(up, foreign.duration_ns)
            if up.trailers:
                self.trailing.append(("upstream", foreign.duration_ns, up.trailers))
        if down is None:
            self.got_head = False
        elif down != up:
            self.touched_at = _first(down, foreign.duration_ns)
            self.delivered = (self.touched_at, _head(down))
            self.down += _marks(down, foreign.duration_ns)
            if down.trailers:
                self.trailing.append(("delivered", foreign.duration_ns, down.trailers))
        self.messages += foreign.messages
        self.ending = (foreign.duration_ns, foreign.ending, foreign.error, faults)
        bodies = (foreign.request.body, up and up.body, down and down.body)
        self._put(sum(len(body or b"") for body in bodies) + sum(len(one.data) for one in foreign.messages))

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
        size += sum(len(message.data) for message in self.messages)
        self.messages.clear()
        self.trailing.clear()
        logged = self.state
        if self.received is not None and (logged is None or not logged.request):
            size += len(self.received.body or b"")
        if self.sent is not None and (logged is None or not logged.sent):
            size += len(self.sent.body or b"")
        self.received = self.sent = self.upstream = self.delivered = self.state = None
        return size

    def _is_open(self) -> bool:
        """Are events still recorded? Not after the end, nor once the writer has stopped."""
        if self._intake.gone:
            self.forget()
            return False
        if self._intake.drops and self._intake.overflows:
            self.lost = True
        return self.ending is None and not self.lost

    def _put(self, size: int) -> None:
        self._intake.add(size)
        if not self._queued:
            self._queued = True
            self._intake.offer(self)


def _head(delivery: Delivery) -> Response:
    return Response(delivery.status, delivery.reason, delivery.headers)


def _first(delivery: Delivery, otherwise: int) -> int:
    return min((at for _, at in delivery.chunks), default=otherwise)


def _marks(delivery: Delivery, otherwise: int) -> list[Mark]:
    """The chunks of a delivery with their bytes; what stands after the last one is a chunk as well."""
    marks: list[Mark] = []
    start = 0
    for end, at_ns in delivery.chunks:
        marks.append((at_ns, delivery.body[start:end]))
        start = end
    if start < len(delivery.body):
        marks.append((otherwise, delivery.body[start:]))
    return marks
