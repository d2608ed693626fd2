"""The half of a stream that gets its answers from a tape, where the engine replays one."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mitmproxy.proxy.layers.http._events import ResponseProtocolError

from faultwire.events import with_held
from faultwire.mitm.flow.error_responses import Refusal
from faultwire.mitm.flow.replay import Pacing, told
from faultwire.mitm.flow.replay_websocket import TapedSocket
from faultwire.mitm.flow.response import Responder
from faultwire.replay.explain_miss import Divergence

if TYPE_CHECKING:
    from faultwire.events import Request
    from faultwire.mitm.flow.actions import Commands, Ended
    from faultwire.mitm.flow.websocket import SocketLayer
    from faultwire.replay.answer import Answer


class Replayed(Responder):
    """What takes the place of a server connection. `_played` is the answer that is being given."""

    _played: Answer | None = None

    def _meet(self, body: bytes) -> None:
        """A request is whole: if it is the one that a fork's fault is for, that may act on it."""
        crossing, replays = self._crossing, self._shell.replays
        if crossing is None or replays is None:
            return
        passage = crossing.passage
        request = with_held(passage.exchange.request, body)
        if replays.of(crossing.session).meet(request, passage.number):
            crossing.session.context.state.only = passage.number

    def _play(self, request: Request) -> Ended:
        """Answer from the tape; False where this exchange is to go live."""
        crossing, replays = self._crossing, self._shell.replays
        assert crossing is not None
        assert replays is not None
        found = replays.of(crossing.session).play(request, crossing.passage.number)
        if found is None:
            try:
                self._shell.admit_live(crossing)
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
        crossing, replays = self._crossing, self._shell.replays
        if replays is not None and crossing is not None:
            passage = crossing.passage
            replays.of(crossing.session).pass_over(passage.exchange.request, passage.number)

    def _tell(self, answer: Answer, pacing: Pacing) -> Commands:
        """Say the recorded answer again, as mitmproxy would report it of a server."""
        for at_ns, event in told(answer, self.stream_id, self.flow.request):
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

    def _socket(self) -> SocketLayer:
        if self._played is None or self._crossing is None or self._shell.replays is None:
            return super()._socket()
        player = self._shell.replays.of(self._crossing.session)
        script = player.script(self._played.messages)
        return TapedSocket(self.context, self.flow, self._shell, self._crossing, script)
