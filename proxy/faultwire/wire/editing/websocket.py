"""WebSockets whose messages are JSON events of many responses: a reader or an editor for each.

Here an event is one text message, without any framing bytes (RFC 6455 §5.6).
"""

from __future__ import annotations

from collections import OrderedDict
from functools import reduce
from typing import TYPE_CHECKING

from faultwire.errors import WireError
from faultwire.events import ResponseView, Usage
from faultwire.wire import json_bytes
from faultwire.wire.editing.json_stream import Framed
from faultwire.wire.framing import split as framing
from faultwire.wire.types import StreamEditor, StreamReader

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from faultwire.events import Request

    LaneOf = Callable[[json_bytes.Object], str | None]
    """Which response an event belongs to; None where it belongs to none."""

KEPT = 64
"""How many responses of one session are tracked; older ones are over."""

MESSAGES = Framed(read=lambda event: ("", event), swap=lambda _event, data: data)
"""A message is its data."""


def upgrades(request: Request) -> bool:
    """Does a request ask for a WebSocket (RFC 6455 §4.1)?"""
    return request.method == "GET" and framing.wants_socket(request)


class Messages:
    """Each message is one event, however long it is."""

    def feed(self, chunk: bytes, /) -> list[bytes]:
        """The message."""
        return [chunk]

    def finish(self) -> bytes:
        """Nothing is ever left over."""
        return b""


class Responses(StreamReader):
    """Reads each response of a session by itself; the view tells of them all.

    Text and calls are those of every response, in order; model, finish reason and whether it is
    complete are those of the one that began last; usage is the sum.
    """

    def __init__(self, make: Callable[[], StreamReader], lane_of: LaneOf) -> None:
        self._make = make
        self._lane_of = lane_of
        self._lanes: dict[str, StreamReader] = {}
        self._readers: list[StreamReader] = []
        self._error: str | None = None
        self._over: ResponseView | None = None

    def feed(self, event: bytes) -> None:
        """Take one message."""
        try:
            document = json_bytes.load_object(event)
        except WireError as error:
            self._error = self._error or error.message
            return
        lane = self._lane_of(document)
        if document.get("type") == "error":
            lane = lane if lane in self._lanes else None
            self._error = self._error or error_text(document)
        if lane is None:
            return
        if document.get("type") == "response.created" or lane not in self._lanes:
            self._begin(lane)
        self._lanes[lane].feed(event)

    def view(self) -> ResponseView:
        """The session's answer so far."""
        views = [*([self._over] if self._over else []), *(reader.view() for reader in self._readers)]
        if not views:
            return ResponseView(error=self._error, complete=False)
        counted = [view.usage for view in views if view.usage is not None]
        total = reduce(Usage.plus, counted, Usage(0, 0))
        return ResponseView(
            model=views[-1].model,
            text="\n".join(view.text for view in views if view.text),
            finish_reason=views[-1].finish_reason,
            tool_calls=tuple(call for view in views for call in view.tool_calls),
            usage=total if counted else None,
            error=self._error or next((view.error for view in views if view.error), None),
            complete=views[-1].complete,
        )

    def _begin(self, lane: str) -> None:
        if len(self._readers) >= KEPT:
            self._over = self.view()
            self._readers, self._lanes = [], {}
        self._lanes[lane] = self._make()
        self._readers.append(self._lanes[lane])


class Editors(StreamEditor):
    """Edits each response of a session by itself."""

    def __init__(self, make: Callable[[], StreamEditor], lane_of: LaneOf) -> None:
        self._make = make
        self._lane_of = lane_of
        self._lanes: OrderedDict[str, StreamEditor] = OrderedDict()

    def feed(self, event: bytes) -> Iterable[bytes]:
        """The messages to deliver in place of this one."""
        try:
            document = json_bytes.load_object(event)
        except WireError:
            return (event,)  # what the client cannot read either is passed on unchanged
        lane = self._lane_of(document)
        if lane is None:
            return (event,)
        out: list[bytes] = []
        if document.get("type") == "response.created":
            out += self._begin(lane)
        editor = self._lanes.get(lane)
        if editor is None:
            return (event,)
        out += editor.feed(event)
        self.changed = self.changed or editor.changed
        return out

    def finish(self) -> Iterable[bytes]:
        """What is still held."""
        held = [event for editor in self._lanes.values() for event in editor.finish()]
        self.changed = self.changed or any(editor.changed for editor in self._lanes.values())
        self._lanes.clear()
        return held

    def _begin(self, lane: str) -> Iterable[bytes]:
        """A response begins: the one before it in this lane, or the oldest of too many, is over."""
        held: list[bytes] = []
        last = self._lanes.pop(lane, None)
        if last is not None:
            held += last.finish()
        self._lanes[lane] = self._make()
        if len(self._lanes) > KEPT:
            held += self._lanes.popitem(last=False)[1].finish()
        return held


def error_text(document: json_bytes.Object) -> str:
    """What an `error` event says, flat or nested."""
    error = document.get("error")
    text = json_bytes.member(error, "message") if isinstance(error, dict) else document.get("message")
    return json_bytes.string(text) or "error"
