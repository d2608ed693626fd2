"""Gemini generateContent over gRPC, which google-generativeai speaks by default.

Messages are read in their JSON form, so that everything that is known of Gemini's JSON holds here, too;
a change is written back into the message's own bytes. Source: google.ai.generativelanguage's protos.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Literal

from faultwire import _core
from faultwire.errors import WireError
from faultwire.events import ResponseView
from faultwire.wire import json_bytes
from faultwire.wire.editing.api import Editor
from faultwire.wire.framing import grpc_status, split as framing, sse
from faultwire.wire.google import errors as google_errors, gemini_proto
from faultwire.wire.google.gemini import Gemini
from faultwire.wire.grpc import errors as grpc_errors, protobuf, unknown_service as grpc
from faultwire.wire.protocol import Protocol
from faultwire.wire.recognition import recognise as recognition
from faultwire.wire.recognition.confirm import Signs
from faultwire.wire.types import Page, StreamEditor, StreamReader

if TYPE_CHECKING:
    from collections.abc import Iterable

    from faultwire.events import Headers, Path, Request, RequestView, Response, ToolResult
    from faultwire.wire.editing.api import Change, Failure, TextPlace
    from faultwire.wire.types import Rewrite

_SERVICE = ".GenerativeService"
_WHOLE, _STREAMS = "GenerateContent", "StreamGenerateContent"
_METHODS = frozenset((_WHOLE, _STREAMS, *gemini_proto.EMBED))
_JSON = Gemini()


def request_json(body: bytes) -> bytes:
    """A request in its JSON form. Raises WireError."""
    return json_bytes.dump(protobuf.read(grpc.message(body), gemini_proto.REQUEST))


def response_json(body: bytes) -> bytes:
    """An answer, or a piece of one, in its JSON form. Raises WireError."""
    return json_bytes.dump(protobuf.read(grpc.message(body), gemini_proto.RESPONSE))


def _changed(body: bytes, message: protobuf.Message, before: bytes, after: bytes) -> bytes:
    """The frame with the difference between two JSON forms made in it."""
    if after == before:
        return body
    return grpc.frame(protobuf.patch(grpc.message(body), message, json_bytes.load_object(after)))


class GeminiGrpcEditor(Editor):
    """What can be changed in Gemini's JSON."""

    abilities = Gemini.edits.abilities

    def change(self, body: bytes, change: Change) -> bytes:
        """By way of the JSON form."""
        text = response_json(body)
        return _changed(body, gemini_proto.RESPONSE, text, _JSON.edits.change(text, change))

    def stream_editor(self, change: Change) -> StreamEditor | None:
        """By way of the JSON form."""
        inner = _JSON.edits.stream_editor(change)
        return None if inner is None else _Editor(inner)

    def texts(self, body: bytes) -> tuple[TextPlace, ...]:
        """Paths lead through the JSON form."""
        return _JSON.edits.texts(request_json(body))

    def rewrite_texts(self, body: bytes, changed: dict[Path, str]) -> bytes:
        """By way of the JSON form."""
        text = request_json(body)
        return _changed(body, gemini_proto.REQUEST, text, _JSON.edits.rewrite_texts(text, changed))

    def failure(self, what: Failure, *, message: str | None = None) -> Response | None:
        """The code and the words that Google has for it."""
        answer = _JSON.edits.failure(what, message=message)
        if answer is None:
            return None
        words = json_bytes.member(json_bytes.load(answer.body or b"{}"), "error", "message")
        return grpc_errors.answer(grpc_errors.code_of(answer.status), json_bytes.string(words))

    def error_event(self, what: Literal["overloaded", "server_error"], message: str | None) -> bytes:
        """Nothing: the stream just ends, with trailers."""
        return b""

    def error_trailers(self, what: Literal["overloaded", "server_error"], message: str | None) -> Headers:
        """A status that is not OK."""
        code, usual = 14, "The model is overloaded. Please try again later."
        if what == "server_error":
            code, usual = 13, "An internal error has occurred."
        return grpc_errors.trailers(code, message or usual)


def _error(status: int, message: str | None, retry_after_s: float | None) -> Response:
    if status in grpc_errors.EDGE:
        return google_errors.error(status, message, None)
    usual = "Deadline expired before operation could complete." if status == 408 else None
    if message is None and usual is None:
        answer = google_errors.error(status, None, None)
        usual = json_bytes.string(
            json_bytes.member(json_bytes.load(answer.body or b"{}"), "error", "message")
        )
    return grpc_errors.answer(grpc_errors.code_of(status), message or usual or "", retry_after_s)


class GeminiGrpc(Protocol):
    """`POST /google.ai.generativelanguage.v1beta.GenerativeService/{Stream}GenerateContent`."""

    name = "gemini_grpc"
    signs = Signs(media=("application/grpc", "application/grpc+proto"))
    edits = GeminiGrpcEditor()
    errors = staticmethod(_error)
    request_ids = ()
    dialect = "faultwire.mock.gemini_grpc:GeminiGrpcDialect"
    page = Page(
        "gRPC to a `google.ai.generativelanguage.….GenerativeService`: `GenerateContent`, "
        "`StreamGenerateContent`, and those that embed",
        "`google`",
        "the same, in frames; status and trailers",
        "all, in the message's own bytes",
        "a status in the trailers",
        "yes, over HTTP/2",
    )

    def recognise(self, request: Request) -> bool:
        """By content type, service and method."""
        if request.method != "POST" or not grpc_status.is_grpc(request.headers):
            return False
        service, method = grpc.method_of(request)
        ours = service.startswith("google.ai.generativelanguage.") and service.endswith(_SERVICE)
        return ours and method in _METHODS

    def provider(self, request: Request) -> str:
        """By host; `google` for hosts that nobody is known to run."""
        return recognition.provider_of(request.host) or "google"

    def splitter(self, request: Request, response: Response) -> framing.Splitter | None:
        """Only what the method streams is more than one frame."""
        streams = grpc.method_of(request)[1] == _STREAMS and grpc_status.is_grpc(response.headers)
        return _core.GrpcSplitter() if streams else None

    def attempt(self, request: Request) -> int | None:
        """By gRPC's own field; what google-api-core repeats, it repeats without a word."""
        return grpc.attempts(request)

    def view(self, request: Request) -> RequestView:
        """With the way of answering, which only the method tells."""
        method = grpc.method_of(request)[1]
        body = request.body or b""
        if method in gemini_proto.EMBED:
            found = protobuf.read(grpc.message(body), gemini_proto.EMBED[method][0])
            view = _JSON.request_view(json_bytes.dump(found))
        else:
            view = self.request_view(body)
        return replace(view, model=view.model.removeprefix("models/"), stream=method == _STREAMS)

    def request_view(self, body: bytes) -> RequestView:
        """The conversation. Raises WireError."""
        return _JSON.request_view(request_json(body))

    def response_view(self, status: int, body: bytes) -> ResponseView:
        """The first candidate; a call that ended without a message failed."""
        if not body:
            return ResponseView(error="the call ended without a message", complete=False)
        return _JSON.response_view(status, response_json(body))

    def reader(self) -> StreamReader:
        """Complete with a `finishReason`."""
        return _Reader(_JSON.reader())

    def is_terminal(self, event: bytes) -> bool:
        """A message with a `finishReason`."""
        try:
            return _JSON.is_terminal(sse.write(response_json(event)))
        except WireError:
            return False

    def replace_result(self, body: bytes, result: ToolResult, rewrite: Rewrite) -> bytes:
        """The `response` of one part, as in JSON."""
        text = request_json(body)
        return _changed(body, gemini_proto.REQUEST, text, _JSON.replace_result(text, result, rewrite))

    def truncate(self, body: bytes, max_tokens: int) -> bytes:
        """`finishReason` `MAX_TOKENS`."""
        text = response_json(body)
        return _changed(body, gemini_proto.RESPONSE, text, _JSON.truncate(text, max_tokens))

    def truncator(self, max_tokens: int) -> StreamEditor:
        """The same for a stream."""
        return _Editor(_JSON.truncator(max_tokens))


class _Reader(StreamReader):
    """Reads messages as the events of a JSON stream."""

    def __init__(self, inner: StreamReader) -> None:
        self._inner = inner
        self._error: str | None = None

    def feed(self, event: bytes) -> None:
        try:
            self._inner.feed(sse.write(response_json(event)))
        except WireError as error:
            self._error = self._error or error.message

    def view(self) -> ResponseView:
        found = self._inner.view()
        return replace(found, error=found.error or self._error)


class _Editor(StreamEditor):
    """Edits messages as the events of a JSON stream; one that was held keeps what only its frame says."""

    def __init__(self, inner: StreamEditor) -> None:
        self._inner = inner
        self._events: list[tuple[bytes, bytes]] = []
        """The JSON events that were not given back yet, with their frames."""

    def feed(self, event: bytes) -> Iterable[bytes]:
        try:
            event_text = sse.write(response_json(event))
        except WireError:
            return (event,)  # what the client cannot read either is passed on unchanged
        self._events.append((event_text, event))
        return self._framed(self._inner.feed(event_text))

    def finish(self) -> Iterable[bytes]:
        return self._framed(self._inner.finish())

    def _framed(self, events: Iterable[bytes]) -> tuple[bytes, ...]:
        wanted = list(events)
        return tuple(self._frame(event, last=event is wanted[-1]) for event in wanted)

    def _frame(self, wanted: bytes, *, last: bool) -> bytes:
        """The event's own frame; a changed one's is the last that came, or of several the next one."""
        place = next((at for at, (text, _) in enumerate(self._events) if text == wanted), None)
        if place is not None:
            event = self._events[place][1]
            del self._events[: place + 1]
            return event
        self.changed = True
        base = self._events[-1 if last else 0][1] if self._events else b""
        del self._events[: None if last else 1]
        fields = sse.fields(wanted)
        document = json_bytes.load_object(fields.data) if fields else {}
        if base:
            return grpc.frame(protobuf.patch(grpc.message(base), gemini_proto.RESPONSE, document))
        return grpc.frame(protobuf.write(document, gemini_proto.RESPONSE))
