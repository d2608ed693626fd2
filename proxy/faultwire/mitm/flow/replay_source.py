"""A tape in the place of a server connection, where the engine replays one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from faultwire.events import with_held
from faultwire.mitm.flow.actions import ActionExecutor
from faultwire.mitm.flow.replay import Pacing, Replays, replayed_events
from faultwire.mitm.flow.response import Responder
from faultwire.mitm.flow.response_writer import ResponseWriter
from faultwire.mitm.flow.stream_state import Commands, Ended, StreamState
from faultwire.mitm.messages.error_responses import Refusal
from faultwire.replay.explain_miss import Divergence

if TYPE_CHECKING:
    from faultwire.events import Request
    from faultwire.mitm.flow.replay_websocket import ReplayWebSocket
    from faultwire.replay.answer import Answer
    from faultwire.replay.player import Player


@dataclass(slots=True, eq=False)
class ReplaySource:
    """Answers one exchange from a tape."""

    state: StreamState
    writer: ResponseWriter
    executor: ActionExecutor
    responder: Responder
    replays: Replays
    _played: Answer | None = None
    """The answer that is being given."""

    @property
    def _player(self) -> Player:
        return self.replays.of(self.state.recorded.session)

    def arm_fork(self, body: bytes) -> None:
        """A request is whole: if it is the one that a fork's fault is for, that may act on it."""
        recorded = self.state.recorded
        pipeline = recorded.pipeline
        if self._player.arrive(with_held(pipeline.exchange.request, body), pipeline.number):
            recorded.session.context.state.only = pipeline.number

    def play(self, request: Request) -> Ended:
        """Answer from the tape; False where this exchange is to go live."""
        state, recorded = self.state, self.state.recorded
        found = self._player.play(request, recorded.pipeline.number)
        if found is None:
            try:
                state.gateway.admit(recorded, live=True)
            except Refusal as refusal:
                yield from self.writer.answer(refusal.response(), "refused", refusal.message)
                return True
            return False
        if isinstance(found, Divergence):
            if not state.nobody_asks:
                yield from self.writer.answer(found.answer(), "refused", f"diverged: {found.reason}")
            return True
        self._played = found
        yield from self._repeat(found, Pacing(self.replays.settings.timing))
        return True

    def pass_over(self) -> None:
        """A fault answers or ends this exchange: its recorded answer is not missing."""
        pipeline = self.state.recorded.pipeline
        self._player.pass_over(pipeline.exchange.request, pipeline.number)

    def _repeat(self, answer: Answer, pacing: Pacing) -> Commands:
        """Say the recorded answer again, as mitmproxy would report it of a server."""
        state = self.state
        if answer.goaway is not None:
            yield from self.executor.leave(answer.goaway)
        for at_ns, event in replayed_events(answer, state.stream_id, state.flow.request):
            seconds = pacing.seconds(at_ns)
            if seconds and (yield from self.executor.wait(seconds)):
                return
            if state.nobody_asks:
                return
            yield from self.responder.take(event)
        if answer.ends == "cut" and not state.nobody_asks:
            if not (yield from self.executor.drain()):
                yield from self.writer.hang_up("cut", None)
        elif answer.ends == "reset" and not state.nobody_asks:
            yield from self.executor.reset(answer.code)

    def websocket(self) -> ReplayWebSocket | None:
        """The messages that follow the answer, where the tape gave it."""
        if self._played is None:
            return None
        from faultwire.mitm.flow.replay_websocket import ReplayWebSocket

        state, script = self.state, self._player.script(self._played.messages)
        return ReplayWebSocket(state.context, state.flow, state.gateway, state.recorded, script)
