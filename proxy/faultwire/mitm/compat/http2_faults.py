"""What faults do to the frames of a client's HTTP/2 connection: GOAWAY, RST_STREAM, shut windows."""

from __future__ import annotations

from typing import Any

import h2.events
from hyperframe.frame import GoAwayFrame
from mitmproxy.proxy import commands, events

from faultwire.mitm.compat.http2_frames import Leaving, ResetStream

REFUSED_STREAM = 7
"""RFC 9113 §7."""
FULL = 65_535
"""Bytes of a body after which its window is full (RFC 9113 §6.9.2): what every client begins with, so that it
does not depend on when it reads our settings."""


class StreamFaults:
    """The faults of one connection, which `server` serves. `layer` says what was decided when it was made,
    and hears what came of it."""

    def __init__(self, server: Any, layer: Any) -> None:
        self._server, self._http, self._layer = server, server.h2_conn, layer
        self._last: int | None = None
        """The last stream that is answered, once we have said that we leave."""
        self._stall_s: float | None = layer.stall_s() if hasattr(layer, "stall_s") else None
        self._wakes: dict[commands.Command, int] = {}
        """The streams whose body stands still."""
        if self._stall_s is not None:
            self._http.local_settings.initial_window_size = FULL
            self._http.local_settings.acknowledge()  # else the old value is sent

    @property
    def over(self) -> bool:
        """Have we left, and is no stream open any more?"""
        return self._last is not None and not (
            self._http.open_inbound_streams or self._http.open_outbound_streams
        )

    def takes(self, event: events.Event) -> bool:
        """Handle an event of ours; False for all others."""
        if isinstance(event, ResetStream):
            self._reset(event.stream_id, event.error)
        elif isinstance(event, Leaving):
            self._leave(event)
        elif isinstance(event, events.Wakeup) and event.command in self._wakes:
            self._layer.body_stalled()
            self._http.read_on(self._wakes.pop(event.command))
        else:
            if isinstance(event, events.ConnectionClosed) and self._wakes:
                self._layer.body_stalled()
            return False
        return True

    def _leave(self, event: Leaving) -> None:
        """The last stream is the last that was opened, or the one before this, where this is not answered.
        Where later ones are under way, which are answered, a reset has to say so of this one."""
        if self._last is None:
            latest = self._http.highest_inbound_stream_id
            covered = event.answered or latest > event.stream_id
            self._last = latest if covered else max(0, event.stream_id - 2)
        frame = GoAwayFrame(0, last_stream_id=self._last, error_code=event.error)
        self._http._prepare_for_sending([frame])

    def _reset(self, stream_id: int, error: int) -> None:
        if self._server.is_closed(stream_id):
            return
        if self._last is not None and stream_id > self._last:
            # The GOAWAY has said all; h2 takes a frame of such a stream for an error of its own.
            self._http.stream_buffers.pop(stream_id, None)
            self._http.streams[stream_id].reset_stream(error)
        else:
            self._http.reset_stream(stream_id, error)

    def refuses(self, event: Any) -> bool:
        """A call that comes after we said that we leave."""
        late = isinstance(event, h2.events.RequestReceived) and self._last is not None
        if late and event.stream_id > (self._last or 0) and not self._server.is_closed(event.stream_id):
            self._http.reset_stream(event.stream_id, REFUSED_STREAM)
            return True
        return False

    def watch(self, event: Any) -> commands.RequestWakeup | None:
        """Withhold the windows of bodies; gives what wakes one up that begins to stand still."""
        if self._stall_s is None:
            return None
        if isinstance(event, h2.events.RequestReceived) and not event.stream_ended:
            self._http.withhold(event.stream_id)
        elif isinstance(event, h2.events.StreamEnded):
            self._forget(event.stream_id)
        elif isinstance(event, h2.events.StreamReset):
            if self._forget(event.stream_id):
                self._layer.body_stalled()
        elif isinstance(event, h2.events.DataReceived) and event.stream_id in self._http.withheld:
            came = self._http.withheld[event.stream_id] + event.flow_controlled_length
            if came >= FULL and not event.stream_ended and event.stream_id not in self._wakes.values():
                wakes = commands.RequestWakeup(self._stall_s)
                self._wakes[wakes] = event.stream_id
                return wakes
        return None

    def _forget(self, stream_id: int) -> bool:
        """A stream sends no more; did it stand still?"""
        self._http.read_on(stream_id)
        stood = [command for command, stream in self._wakes.items() if stream == stream_id]
        for command in stood:
            del self._wakes[command]
        return bool(stood)
