"""Streams whose events are JSON objects, whatever their framing: a reader and an editor to build on."""

from __future__ import annotations

from abc import abstractmethod
from typing import TYPE_CHECKING, NamedTuple

from faultwire import _core
from faultwire.errors import WireError
from faultwire.events import ResponseView, ToolCall
from faultwire.wire import json_bytes
from faultwire.wire.framing import sse
from faultwire.wire.types import StreamEditor, StreamReader

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from faultwire.events import Usage


class Framed(NamedTuple):
    """What a framing does with one event: `read` gives its name and data (None: nothing to read, or
    WireError), `swap` puts other data into it."""

    read: Callable[[bytes], tuple[str, bytes] | None]
    swap: Callable[[bytes, bytes], bytes]


def _read_sse(event: bytes) -> tuple[str, bytes] | None:
    fields = sse.fields(event)
    return None if fields is None or not fields.data else (fields.name, fields.data)


def _read_line(event: bytes) -> tuple[str, bytes] | None:
    line = event.strip()
    return ("", line) if line else None


def _swap_line(event: bytes, data: bytes) -> bytes:
    return data + event[len(event.rstrip(b"\r\n")) :]


def _read_frame(event: bytes) -> tuple[str, bytes] | None:
    try:
        headers, payload = _core.eventstream_parse(event)
    except ValueError as error:
        raise WireError(str(error)) from None
    fields = dict(headers)
    if fields.get(":message-type") == "error":
        text = fields.get(":error-message") or fields.get(":error-code") or "error"
        return "error", json_bytes.dump({"message": text})
    return fields.get(":exception-type") or fields.get(":event-type") or "", payload


SSE = Framed(_read_sse, sse.with_data)
LINES = Framed(_read_line, _swap_line)
FRAMES = Framed(_read_frame, _core.eventstream_with_payload)


def _read_element(event: bytes) -> tuple[str, bytes] | None:
    """An element of an array with its bracket or comma; what closes the array is none."""
    element = event.strip()
    if element[:1] in (b"[", b","):
        element = element[1:].lstrip()
    return ("", element) if element and element[:1] != b"]" else None


def _swap_element(event: bytes, data: bytes) -> bytes:
    found = _read_element(event)
    at = event.rindex(found[1]) if found else len(event)
    return event[:at] + data


def _of_google(event: bytes) -> Framed:
    """Each event shows by itself how it is framed: no field of an SSE event begins like JSON."""
    return ELEMENTS if event.lstrip()[:1] in (b"[", b",", b"{", b"]") else SSE


ELEMENTS = Framed(_read_element, _swap_element)
SSE_OR_ELEMENTS = Framed(
    lambda event: _of_google(event).read(event), lambda event, data: _of_google(event).swap(event, data)
)


class Gatherer(StreamReader):
    """Gathers text, calls and the rest; what is not JSON is reported in `error` and skipped."""

    framed: Framed = SSE

    def __init__(self) -> None:
        self.model = ""
        self.text: list[str] = []
        self.calls: dict[object, tuple[str, str, list[str]]] = {}
        """By the key that later pieces name them with: id, name, pieces of the arguments."""
        self.finish: str | None = None
        self.usage: Usage | None = None
        self.error: str | None = None
        self.complete = False
        self.request_id: str | None = None
        self.answer_id: str | None = None

    def feed(self, event: bytes) -> None:
        """Take one event with its framing bytes."""
        try:
            found = self.framed.read(event)
            if found is not None:
                self.take(found[0], json_bytes.load_object(found[1]))
        except WireError as error:
            self.error = self.error or error.message

    def view(self) -> ResponseView:
        """The answer so far."""
        return ResponseView(
            model=self.model,
            text="".join(self.text),
            finish_reason=self.finish,
            tool_calls=tuple(ToolCall(i, name, "".join(parts)) for i, name, parts in self.calls.values()),
            usage=self.usage,
            error=self.error,
            complete=self.complete,
            request_id=self.request_id,
            answer_id=self.answer_id,
        )

    @abstractmethod
    def take(self, name: str, document: json_bytes.Object) -> None:
        """Take what one event says; `name` is its type where the framing gives one."""


class JsonEditor(StreamEditor):
    """Edits the data of each event; what the client cannot read either is passed on unchanged."""

    framed: Framed = SSE

    def feed(self, event: bytes) -> Iterable[bytes]:
        """The event, edited, or nothing where the edit left nothing of it."""
        try:
            found = self.framed.read(event)
            if found is None:
                return (event,)
            data = self.edit(found[0], found[1], json_bytes.load_object(found[1]))
        except WireError:
            return (event,)
        if data == found[1]:
            return (event,)
        self.changed = True
        return (self.renamed(self.framed.swap(event, data)),) if data else ()

    @abstractmethod
    def edit(self, name: str, data: bytes, document: json_bytes.Object) -> bytes:
        """The data to deliver instead, empty to drop the event. WireError passes the event on."""

    def renamed(self, event: bytes) -> bytes:
        """A changed event under the name that it now deserves."""
        return event
