"""One exchange between the wire, its passage and the tape: bookkeeping, no I/O, every call cheap."""

from __future__ import annotations

from typing import TYPE_CHECKING

from faultwire.events import Send
from faultwire.passage import Passage

if TYPE_CHECKING:
    from collections.abc import Callable

    from faultwire.events import Action, FaultFired, Request, Response
    from faultwire.mitm.sessions import Session
    from faultwire.passage import Departure
    from faultwire.tape.recording import Recording
    from faultwire.tape.store import TapeWriter


class Crossing:
    """What happens to one exchange, told to its passage and to its recording in the same breath."""

    __slots__ = (
        "_begun",
        "_head",
        "_last",
        "_leave",
        "_touched",
        "ended",
        "holds_request",
        "passage",
        "recording",
        "session",
    )

    def __init__(
        self,
        session: Session,
        head: Request,
        tape: TapeWriter | None,
        leave: Callable[[Crossing], None],
    ) -> None:
        self.session = session
        self.passage = Passage(session.context, head)
        self.holds_request = self.passage.holds_request
        self.recording: Recording | None = tape.record(self.passage.exchange) if tape else None
        self.ended = False
        self._head = head
        self._begun = False
        self._last = b""
        self._touched = False
        self._leave = leave

    # ------------------------------------------------------------ request

    def depart(self, body: bytes | None) -> Departure:
        """The request is known (`body` None: its body is not held); what is to be done with it."""
        departure = self.passage.request(body)
        self._begin(departure)
        return departure

    def _begin(self, departure: Departure | None) -> None:
        """Tell the tape what was asked, once; with `departure`, also what goes upstream if it differs."""
        recording = self.recording
        if recording is None or self._begun:
            return
        self._begun = True
        exchange = self.passage.exchange
        recording.exchange = exchange
        recording.request(exchange.request)
        if departure is None or departure.answer is not None:
            return
        if departure.request is not exchange.request:
            recording.forwarded(departure.request)

    def request_chunk(self, data: bytes) -> None:
        """Part of a request body that nobody holds."""
        if self.recording is not None:
            self.recording.request_chunk(data)

    # ------------------------------------------------------------ response

    def arrive(self, response: Response) -> Response:
        """Upstream's head is there; the head to deliver."""
        delivered = self.passage.head(response)
        self._touched = self.passage.touches or self.passage.holds_response
        if self.recording is not None:
            self.recording.upstream_head(response)
            if delivered is not response:
                self.recording.delivered_head(delivered)
            if self._touched:
                self.recording.touched()
        return delivered

    @property
    def touches(self) -> bool:
        """Must the body go through `feed`? Else it may be passed on as it comes."""
        return self._touched

    def upstream_chunk(self, data: bytes) -> None:
        """Part of the response body as upstream sent it."""
        if not self._touched:
            self._last = data
        if self.recording is not None:
            self.recording.upstream_chunk(data)

    def feed(self, data: bytes) -> list[Action]:
        """What to do in place of sending upstream's bytes on."""
        return self.passage.feed(data)

    def finish(self) -> list[Action]:
        """What to do before the regular end."""
        return self.passage.finish()

    def delivered(self, action: Send) -> None:
        """Bytes that the agent gets, where they may differ from upstream's."""
        self._last = action.data
        if self.recording is not None:
            self.recording.delivered_chunk(action.data)

    def answered(self, response: Response) -> None:
        """The whole response that the agent gets in place of upstream's."""
        self._begin(None)
        if self.recording is not None:
            self.recording.delivered_head(response)

    # ------------------------------------------------------------ end

    def end(self, ending: str, error: str | None = None) -> None:
        """The exchange is over; only the first word counts."""
        if self.ended:
            return
        self.ended = True
        self._leave(self)
        self._begin(None)
        if ending == "client_aborted" and self.passage.closes(self._last):
            ending, error = "complete", None
        faults: tuple[FaultFired, ...] = self.passage.ledger()
        self.session.count(self.passage.exchange, faults)
        if self.recording is not None:
            self.recording.end(ending, error, faults)

    def fail(self, response: Response | None, reason: str) -> None:
        """Our own code failed: end without asking the passage anything more."""
        if self.ended and self.recording is not None and self.recording.ending is not None:
            return
        if not self.ended:
            self.ended = True
            self._leave(self)
            self.session.count(self.passage.exchange, ())
        if self.recording is not None:
            if not self._begun:
                self._begun = True
                self.recording.request(self.passage.exchange.request)
            if response is not None:
                self.recording.delivered_head(response)
            self.recording.end("refused", reason, ())
