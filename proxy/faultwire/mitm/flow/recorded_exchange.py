"""One exchange between the wire, its pipeline and the tape: bookkeeping, no I/O, every call cheap."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Protocol

from faultwire.events import Close, Cut, Reset
from faultwire.exchange.pipeline import ExchangePipeline
from faultwire.mitm.flow.recorded_websocket import RecordedWebSocket

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from faultwire.events import Action, FaultFired, Headers, Request, Response
    from faultwire.exchange.pipeline import OutboundRequest, SessionContext
    from faultwire.mitm.compat.hooks import Pause
    from faultwire.mitm.flow.upload_watch import UploadWatch
    from faultwire.mitm.flow.upstream_watch import UpstreamWatch
    from faultwire.mitm.sessions.session import Session
    from faultwire.tape.record.recorder import Recording
    from faultwire.tape.record.writer import TapeWriter


class Observer(Protocol):
    """Who wants to know what an agent gets."""

    def answered(self, status: int) -> None:
        """The head of a response goes to the agent."""

    def over(self, ending: str, faults: tuple[FaultFired, ...]) -> None:
        """The exchange has ended."""


class RecordedExchange:
    """Passes the events of one exchange to its pipeline and to its recording, at the same time.

    Once it has ended, nothing more is passed on: later events of its stream are ignored.
    """

    __slots__ = (
        "_arrived",
        "_begun",
        "_last",
        "_leave",
        "_live",
        "_messages",
        "_sent",
        "ended",
        "hurried",
        "needs_request_body",
        "observer",
        "pause",
        "pipeline",
        "recording",
        "session",
        "touches",
        "upload",
        "watch",
        "written",
    )

    def __init__(
        self,
        session: Session,
        head: Request,
        tape: TapeWriter | None,
        leave: Callable[[RecordedExchange], None],
        context: SessionContext | None = None,
    ) -> None:
        self.session = session
        self.pipeline = ExchangePipeline(context or session.context, head)
        self.needs_request_body = self.pipeline.needs_request_body
        self.recording: Recording | None = tape.admit(self.pipeline.exchange) if tape else None
        self.ended = False
        self.written = 0
        self.watch: UpstreamWatch | None = None
        self.upload: UploadWatch | None = None
        """Watches over the server while it answers."""
        self.observer: Observer | None = None
        self.pause: Pause | None = None
        """The wait of a fault that is under way."""
        self.hurried = False
        """Does no fault let time pass any more?"""
        self._begun = False
        self._arrived: Response | None = None
        self._sent = False
        self._live = False
        self._last = b""
        self.touches = False
        """Must the body go through `feed`? Else it may be passed on as it comes."""
        self._leave = leave
        self._messages: RecordedWebSocket | None = None

    # ------------------------------------------------------------ request

    def depart(self, body: bytes | None, *, live: bool = False) -> OutboundRequest:
        """The request is known (`body` None: its body is not held); what is to be done with it. `live`:
        it goes on, and the rest of it comes through `request_chunk`."""
        departure = self.pipeline.request(body)
        self._live = live
        self._begin()
        return departure

    def _begin(self) -> None:
        """Tell the tape what was asked, once."""
        recording = self.recording
        if recording is None or self._begun:
            return
        self._begun = True
        recording.exchange = self.pipeline.exchange
        request = recording.exchange.request
        if self._live and request.body is not None:
            recording.request(replace(request, body=None))
            recording.request_chunk(request.body)
        else:
            recording.request(request)

    def forwards(self, request: Request) -> None:
        """What goes upstream."""
        if self.recording is None or self.ended:
            return
        if request is not self.pipeline.exchange.request:
            self.recording.forwarded(request)

    def wrote(self, count: int) -> None:
        """So many requests were written to a server on its behalf; there should be one."""
        self.session.requests_written += count
        if self.ended and not self.written:
            self.session.requests_recorded += 1  # it waited for a connection until its client had left
        self.written += count

    def repeats(self) -> None:
        """Its request is written once more; that is no other exchange."""
        if self.watch is not None:
            self.watch.stop()
        if self.written:
            self.session.requests_recorded += 1

    def _settle(self) -> None:
        if self.watch is not None:
            self.watch.stop()
        if self.upload is not None:
            self.upload.stop()
        if self.written:
            self.session.requests_recorded += 1

    def hurry(self) -> None:
        """End the wait of a fault that is under way; no fault lets time pass from here on."""
        self.hurried = True
        if self.pause is not None:
            self.pause.end()

    def client_left(self) -> None:
        """The client left while a fault let time pass."""
        if not self.ended:
            self.pipeline.client_left()

    def request_chunk(self, data: bytes) -> None:
        """Part of a request body that nobody holds."""
        if self.recording is not None and not self.ended:
            self._begin()  # of what it does not know as a request the tape takes nothing, and lags behind
            self.recording.request_chunk(data)

    # ------------------------------------------------------------ response

    def pending(self, response: Response) -> Iterator[Action]:
        """Upstream's head is there; what to do before anything of it is delivered."""
        self._received(response)
        return self.pipeline.pending(response)

    def arrive(self, response: Response) -> Response:
        """Upstream's head is there; the head to deliver, before it is framed."""
        self._received(response)
        delivered = self.pipeline.head(response)
        self.touches = self.pipeline.touches or self.pipeline.needs_response_body
        if self.touches and self.recording is not None and not self.ended:
            self.recording.touched()
        return delivered

    def _received(self, response: Response) -> None:
        if self._arrived is None and not self.ended:
            self._arrived = response
            if self.recording is not None:
                self.recording.upstream_head(response)

    def sends(self, head: Response) -> None:
        """The head as the agent gets it, on the very point of leaving."""
        self._sent = True
        if self.observer is not None:
            self.observer.answered(head.status)
        if self.recording is None or self.ended or head is self._arrived:
            return
        if head != self._arrived:
            self.recording.delivered_head(head)

    def replaces(self, answer: Response) -> Response:
        """An answer of ours takes upstream's place; the head to deliver, before it is framed."""
        delivered = self.pipeline.head(answer)
        self.touches = self.pipeline.touches
        if self.recording is not None and not self.ended:
            self.recording.touched()
        return delivered

    def request_trailers(self, trailers: Headers) -> None:
        """Trailers behind the request's body."""
        if self.recording is not None and not self.ended:
            self.recording.trailers("request", trailers)

    def trailers(self, received: Headers) -> Headers:
        """The trailers to deliver for those that upstream sent."""
        delivered = self.pipeline.trailers(received)
        if self.recording is not None and not self.ended:
            self.recording.trailers("upstream", received)
            if self.touches:
                self.recording.trailers("delivered", delivered)
        return delivered

    def last_words(self) -> Headers:
        """The trailers of a response that a fault has ended: only its own."""
        delivered = self.pipeline.trailers(())
        if self.recording is not None and not self.ended and delivered:
            self.recording.trailers("delivered", delivered)
        return delivered

    def upstream_chunk(self, data: bytes) -> None:
        """Part of the response body as upstream sent it."""
        if self.ended:
            return
        if not self.touches:
            self._last = data
        if self.recording is not None:
            self.recording.upstream_chunk(data)

    def feed(self, data: bytes) -> Iterator[Action]:
        """What to do in place of sending upstream's bytes on."""
        return self.pipeline.feed(data)

    def finish(self) -> Iterator[Action]:
        """What to do before the regular end."""
        return self.pipeline.finish()

    def whole(self, body: bytes) -> Iterator[Action]:
        """What to do in place of sending a body that is all there."""
        if body:
            for action in self.pipeline.feed(body):
                yield action
                if isinstance(action, Close | Cut | Reset):
                    return
        yield from self.pipeline.finish()

    def delivered(self, pieces: list[bytes]) -> None:
        """Bytes that the agent gets, where they may differ from upstream's; pieces that left at once."""
        if self.ended:
            return
        self._last = pieces[-1]
        if self.recording is not None:
            self.recording.delivered_chunks(pieces)

    def answered(self, response: Response) -> None:
        """The whole response that the agent gets in place of upstream's."""
        if self.ended:
            return
        self._sent = True
        if self.observer is not None:
            self.observer.answered(response.status)
        self._begin()
        if self.recording is not None:
            self.recording.delivered_head(response)

    @property
    def websocket(self) -> RecordedWebSocket:
        """The messages of a WebSocket."""
        if self._messages is None:
            self._messages = RecordedWebSocket(self.pipeline, self.recording)
        return self._messages

    # ------------------------------------------------------------ end

    def end(self, ending: str, error: str | None = None) -> None:
        """The exchange is over; only the first word counts."""
        if self.ended:
            return
        self.ended = True
        self._settle()
        self._leave(self)
        self._begin()
        if self._messages is not None:
            self._messages.close()
        if ending == "client_aborted" and self.pipeline.closes(self._last):
            ending, error = "complete", None
        faults: tuple[FaultFired, ...] = self.pipeline.over()
        self.session.count(self.pipeline.exchange, faults)
        if self.observer is not None:
            self.observer.over(ending, faults)
        if self.recording is not None:
            if not self._sent:
                self.recording.undelivered()
            self.recording.end(ending, error, faults)

    def fail(self, response: Response | None, reason: str) -> None:
        """Our own code failed: end without asking the pipeline anything more."""
        if self.ended and self.recording is not None and self.recording.ending is not None:
            return
        if not self.ended:
            self.ended = True
            self._settle()
            self._leave(self)
            self.session.count(self.pipeline.exchange, ())
            if self.observer is not None:
                self.observer.over("refused", ())
        if self.recording is not None:
            if not self._begun:
                self._begun = True
                self.recording.request(self.pipeline.exchange.request)
            if response is not None:
                self.recording.delivered_head(response)
            self.recording.end("refused", reason, ())
