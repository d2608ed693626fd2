"""Amazon Bedrock's InvokeModel with Anthropic's models: their messages, in AWS's frames.

The body is Anthropic's without `model` and `stream`, which the path says. Each frame of a stream holds
one event, in Base64. Bodies of other models are passed on without a view.
"""

from __future__ import annotations

import base64
import binascii
from dataclasses import replace
from typing import TYPE_CHECKING

from faultwire import _core
from faultwire.errors import WireError
from faultwire.wire import json_bytes
from faultwire.wire.anthropic.edits import AnthropicEditor
from faultwire.wire.anthropic.messages import Anthropic
from faultwire.wire.bedrock import errors as bedrock_errors
from faultwire.wire.bedrock.converse import model_in
from faultwire.wire.bedrock.edits import BedrockInvokeEditor
from faultwire.wire.framing import sse
from faultwire.wire.protocol import Protocol
from faultwire.wire.recognition import recognise as recognition
from faultwire.wire.recognition.confirm import Signs
from faultwire.wire.types import Page, StreamEditor, StreamReader

if TYPE_CHECKING:
    from collections.abc import Iterable

    from faultwire.events import Request, RequestView, ResponseView, ToolResult
    from faultwire.wire.editing.api import Ability, Change
    from faultwire.wire.types import Rewrite

_METHODS = ("invoke", "invoke-with-response-stream")


class _Edits(BedrockInvokeEditor):
    """Answers, too, are changed as Anthropic's are."""

    abilities: frozenset[Ability] = frozenset(("answer", "texts", "failure", "error_event"))

    def __init__(self) -> None:
        super().__init__()
        self._answers = AnthropicEditor()

    def change(self, body: bytes, change: Change) -> bytes:
        """The message, changed."""
        return self._answers.change(body, change)

    def stream_editor(self, change: Change) -> StreamEditor:
        """The same for a stream, inside the frames."""
        return _Editor(self._answers.stream_editor(change))


class BedrockInvoke(Protocol):
    """`POST …/model/{id}/invoke` and `…/invoke-with-response-stream`."""

    name = "bedrock_invoke"
    signs = Signs(frozenset(("stop_reason",)), media=("application/vnd.amazon.eventstream",), bare=True)
    edits = _Edits()
    settled = ("/invoke", "/invoke-with-response-stream")
    errors = staticmethod(bedrock_errors.error)
    request_ids = ("x-amzn-requestid",)
    dialect = "faultwire.mock.bedrock:BedrockInvokeDialect"
    page = Page(
        "`POST …/model/{id}/invoke`, `/invoke-with-response-stream`",
        "`aws`",
        "Anthropic's messages in such frames; other models' bodies are not read",
        "answers; requests unless signed",
        "errors, an exception frame",
        "yes, with Anthropic's messages",
    )

    def __init__(self) -> None:
        self._inner = Anthropic()

    def recognise(self, request: Request) -> bool:
        """By path, which names the model."""
        return request.method == "POST" and model_in(request, *_METHODS) is not None

    def provider(self, request: Request) -> str:
        """By host; `aws` for hosts that nobody is known to run."""
        return recognition.provider_of(request.host) or "aws"

    def view(self, request: Request) -> RequestView:
        """With the model and the way of answering, which only the path tells."""
        streams = recognition.bare_path(request).endswith("-stream")
        found = self.request_view(request.body or b"")
        return replace(found, model=model_in(request, *_METHODS) or "", stream=streams)

    def request_view(self, body: bytes) -> RequestView:
        """The conversation. Raises WireError where the body is of another model."""
        if "anthropic_version" not in json_bytes.load_object(body):
            raise WireError("found no `anthropic_version`, expected a body of Anthropic's")
        return self._inner.request_view(body)

    def response_view(self, status: int, body: bytes) -> ResponseView:
        """The message; AWS's errors are `{"message": …}`."""
        found = self._inner.response_view(status, body)
        text = json_bytes.string(json_bytes.load_object(body).get("message")) if status >= 400 else ""
        return replace(found, error=text) if text else found

    def reader(self) -> StreamReader:
        """Complete with `message_stop`."""
        return _Reader(self._inner.reader())

    def is_terminal(self, event: bytes) -> bool:
        """The frame with `message_stop`."""
        try:
            return self._inner.is_terminal(_unpacked(event) or b"")
        except WireError:
            return False

    def replace_result(self, body: bytes, result: ToolResult, rewrite: Rewrite) -> bytes:
        """As Anthropic's."""
        return self._inner.replace_result(body, result, rewrite)

    def truncate(self, body: bytes, max_tokens: int) -> bytes:
        """As Anthropic's."""
        return self._inner.truncate(body, max_tokens)

    def truncator(self, max_tokens: int) -> StreamEditor:
        """As Anthropic's, inside the frames."""
        return _Editor(self._inner.truncator(max_tokens))


def _unpacked(frame: bytes) -> bytes | None:
    """The event in a frame, framed as Anthropic frames it; None where the frame holds none."""
    try:
        headers, payload = _core.eventstream_parse(frame)
    except ValueError as error:
        raise WireError(str(error)) from None
    fields = dict(headers)
    if fields.get(":message-type") == "exception":
        message = json_bytes.string(json_bytes.load_object(payload).get("message"))
        shown = {"type": "error", "error": {"type": fields.get(":exception-type"), "message": message}}
        return sse.write(json_bytes.dump(shown), "error")
    packed = json_bytes.load_object(payload).get("bytes")
    if not isinstance(packed, str):
        return None
    try:
        data = base64.b64decode(packed, validate=True)
    except (binascii.Error, ValueError):
        raise WireError("found a frame whose `bytes` are no Base64") from None
    return sse.write(data, json_bytes.string(json_bytes.load_object(data).get("type")))


class _Reader(StreamReader):
    def __init__(self, inner: StreamReader) -> None:
        self._inner = inner
        self._error: str | None = None

    def feed(self, event: bytes) -> None:
        try:
            inside = _unpacked(event)
        except WireError as error:
            self._error = self._error or error.message
            return
        if inside is not None:
            self._inner.feed(inside)

    def view(self) -> ResponseView:
        found = self._inner.view()
        return replace(found, error=found.error or self._error)


class _Editor(StreamEditor):
    """Edits the events inside of frames; a held event keeps the frame that it came in."""

    def __init__(self, inner: StreamEditor) -> None:
        self._inner = inner
        self._frames: dict[bytes, bytes] = {}
        self._last = b""

    def feed(self, event: bytes) -> Iterable[bytes]:
        try:
            inside = _unpacked(event)
        except WireError:
            inside = None
        if inside is None:
            return (event,)
        self._frames[inside] = self._last = event
        out = [self._framed(piece) for piece in self._inner.feed(inside)]
        self.changed = self.changed or self._inner.changed
        return out

    def finish(self) -> Iterable[bytes]:
        out = [self._framed(piece) for piece in self._inner.finish()]
        self.changed = self.changed or self._inner.changed
        return out

    def _framed(self, piece: bytes) -> bytes:
        return self._frames.pop(piece, None) or _packed(self._last, piece)


def _packed(frame: bytes, event: bytes) -> bytes:
    fields = sse.fields(event)
    _, payload = _core.eventstream_parse(frame)
    data = base64.b64encode(fields.data if fields else b"")
    return _core.eventstream_with_payload(frame, json_bytes.put(payload, ("bytes",), b'"' + data + b'"'))
