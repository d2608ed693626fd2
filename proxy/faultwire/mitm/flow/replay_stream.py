"""The half of a stream that gets its answers from a tape, where the engine replays one."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mitmproxy.proxy.layers.http._events import ResponseProtocolError

from faultwire.events import with_held
from faultwire.mitm.flow.error_responses import Refusal
from faultwire.mitm.flow.replay import Pacing, replayed_events
from faultwire.mitm.flow.replay_websocket import ReplayWebSocket
from faultwire.mitm.flow.response import Responder
from faultwire.replay.explain_miss import Divergence

if TYPE_CHECKING:
    from faultwire.events import Request
    from faultwire.mitm.flow.actions import Commands, Ended
    from faultwire.mitm.flow.websocket import WebSocketLayer
    from faultwire.replay.answer import Answer


class ReplayStream(Responder):
    """What takes the place of a server connection. `_played` is the answer that is being given."""

    _played: Answer | None = None

    def _meet(self, body: bytes) -> None:
        """A request is whole: if it is the one that a fork's fault is for, that may act on it."""
        recorded, replays = self._recorded, self._gateway.replays
        if recorded is None or replays is None:
            return
        pipeline = recorded.pipeline
        request = with_held(pipeline.exchange.request, body)
        if replays.of(recorded.session).meet(request, pipeline.number):
            recorded.session.context.state.only = pipeline.number

    def _play(self, request: Request) -> Ended:
        """Answer from the tape; False where this exchange is to go live."""
        recorded, replays = self._recorded, self._gateway.replays
        assert recorded is not None
        assert replays is not None
        found = replays.of(recorded.session).play(request, recorded.pipeline.number)
        if found is None:
            try:
                self._gateway.admit_live(recorded)
            except Refusal as refusal:
                yield from self._send_answer(refusal.response(), "refused", refusal.message)
                return True
            return False
        if isinstance(found, Divergence):
            if not self._client_left():
                yield from self._send_answer(found.answer(), "refused", f"diverged: {found.reason}")
            return True
        self._played = found
        yield from self._tell(found, Pacing(replays.settings.timing))
        return True

    def _pass_over(self) -> None:
        """A fault answers or ends this exchange: its recorded answer is not missing."""
        recorded, replays = self._recorded, self._gateway.replays
        if replays is not None and recorded is not None:
            pipeline = recorded.pipeline
            replays.of(recorded.session).pass_over(pipeline.exchange.request, pipeline.number)

    def _tell(self, answer: Answer, pacing: Pacing) -> Commands:
        """Say the recorded answer again, as mitmproxy would report it of a server."""
        for at_ns, event in replayed_events(answer, self.stream_id, self.flow.request):
            seconds = pacing.seconds(at_ns)
            if seconds and (yield from self._wait(seconds)):
                return
            if self._client_left():
                return
            if isinstance(event, ResponseProtocolError):
                yield from self.handle_protocol_error(event)
            else:
                yield from self.server_state(event)
        if answer.ends == "cut" and not self._client_left():
            yield from self._hang_up("cut", None)
        elif answer.ends == "reset" and not self._client_left():
            yield from self._reset()

    def _socket(self) -> WebSocketLayer:
        if self._played is None or self._recorded is None or self._gateway.replays is None:
            return super()._socket()
        player = self._gateway.replays.of(self._recorded.session)
        script = player.script(self._played.messages)
        return ReplayWebSocket(self.context, self.flow, self._gateway, self._recorded, script)
