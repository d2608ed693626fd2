"""Carries out what a pipeline asks for on one live response.

It sends, waits without holding a thread, and cuts (FIN) or resets (RST) between any two bytes on HTTP/1 and
HTTP/2.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from mitmproxy.proxy.layers.http import SendHttp

from faultwire.events import Action, Close, Cut, Goaway, Reset, Send, Wait
from faultwire.mitm import compat
from faultwire.mitm.compat.hooks import FaultwireResetHook, FaultwireWaitHook, Hangup, Pause
from faultwire.mitm.flow.stream_state import Commands, Ended, Known, StreamState, joined
from faultwire.mitm.messages import convert

if TYPE_CHECKING:
    from faultwire.mitm.flow.response_writer import ResponseWriter


DRAIN_S = 0.2
"""Between what was sent of a response over HTTP/2 and the end of its stream."""


@dataclass(slots=True, eq=False)
class ActionExecutor:
    """Carries out actions on the response that `writer` writes."""

    state: StreamState
    writer: ResponseWriter

    def execute(
        self,
        actions: Iterable[Action],
        then: Callable[[], Commands] | None = None,
        ended: Callable[[], None] | None = None,
    ) -> Commands:
        """Carry out actions in order, then what `then` gives; where one of them ends the exchange for the
        client, or the client leaves, `ended` is called instead.

        An action is asked for once those before it are done: what is sent is on its way at once, since
        nothing else happens on the connection before it is.
        """
        actions = iter(actions)
        sent, stop = self._sends(actions)
        if stop is not None:
            return self._go_on(sent, stop, actions, then, ended)
        if then is None:
            return sent
        return joined(sent, then()) if sent else then()

    def _sends(self, actions: Iterator[Action]) -> tuple[Known, Action | Exception | None]:
        """The commands for all that may be sent at once, and what stands behind it."""
        pieces: list[bytes] = []
        stop: Action | Exception | None = None
        try:
            for action in actions:
                if not isinstance(action, Send):
                    stop = action
                    break
                if action.data:
                    pieces.append(action.data)
        except Exception as error:  # noqa: BLE001 - raised again, behind what came before it
            stop = error
        return self.writer.deliver(pieces) if pieces else (), stop

    def _go_on(
        self,
        sent: Known,
        stop: Action | Exception | None,
        actions: Iterator[Action],
        then: Callable[[], Commands] | None,
        ended: Callable[[], None] | None,
    ) -> Commands:
        yield from sent
        while stop is not None:
            if isinstance(stop, Exception):
                raise stop
            if (yield from self._ends_with(stop)):
                if ended is not None:
                    ended()
                return
            sent, stop = self._sends(actions)
            yield from sent
        if then is not None:
            yield from then()

    def _ends_with(self, action: Action) -> Ended:
        """Carry out what is not sent; is the exchange over with it?"""
        if isinstance(action, Wait):
            return (yield from self.wait(action.seconds))
        if isinstance(action, Goaway):
            yield from self.leave(action)
            return False
        yield from self._end(action)
        return True

    def leave(self, action: Goaway) -> Commands:
        """Say that the client's connection takes no more calls, where it can be said."""
        if self.state.flow.request.is_http2:
            leaving = compat.Leaving(self.state.stream_id, action.code, action.answered)
            yield SendHttp(leaving, self.state.context.client)

    def wait(self, seconds: float | None) -> Ended:
        """Let time pass, or the client leave; True in the second case (its error event is queued)."""
        state = self.state
        if state.nobody_asks:
            return True
        recorded = state.recorded if state.begun else None
        if recorded is not None and recorded.hurried:
            return False
        state.pause = Pause(state.flow.client_conn, seconds)
        if recorded is not None:
            recorded.pause = state.pause
        try:
            yield FaultwireWaitHook(state.pause)
        finally:
            state.pause = None
            if recorded is not None:
                recorded.pause = None
        return state.nobody_asks

    def drain(self) -> Ended:
        """Before a stream of HTTP/2 is reset: let the client take what was sent. Java's drops what it has not
        given its program yet when RST_STREAM comes right behind it. True where the client has left."""
        if self.state.flow.request.is_http2 and self.state.head_sent:
            return (yield from self.wait(DRAIN_S))
        return False

    def _end(self, action: Action) -> Commands:
        if isinstance(action, Cut | Close):
            return self._cut(clean=isinstance(action, Close) or action.clean)
        return self.reset(action.code if isinstance(action, Reset) else None)

    def _cut(self, *, clean: bool) -> Commands:
        state, writer = self.state, self.writer
        if not (clean and state.head_sent):
            if not (yield from self.drain()):
                yield from writer.hang_up("cut", None)
            return
        yield from writer.cancel_upstream()
        assert state.flow.response is not None
        if state.flow.response.headers.get("content-length") is not None:
            # The message says how long it is; ending it early shows only by closing.
            yield from writer.hang_up("cut", None)
            return
        trailers = state.recorded.last_words()
        state.flow.response.trailers = convert.fields_of(trailers) if trailers else None
        yield from writer.complete("closed")

    def reset(self, code: int | None = None) -> Commands:
        """Abort the client's connection (HTTP/2: its stream, with this code)."""
        if not self.state.flow.request.is_http2:
            yield FaultwireResetHook(Hangup(self.state.flow.client_conn))
        elif (yield from self.drain()):
            return
        yield from self.writer.hang_up("reset", None, code)


def split_sends(actions: Iterator[Action]) -> tuple[list[Send], Action | None]:
    """What may be sent before the first action that is none; that one, if there is any."""
    ready: list[Send] = []
    for action in actions:
        if not isinstance(action, Send):
            return ready, action
        ready.append(action)
    return ready, None
