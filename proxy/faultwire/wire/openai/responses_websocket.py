"""OpenAI Responses over a WebSocket: `response.create` messages go up, the events of the stream come down.

Shapes: OpenAI's API reference, as the official SDKs send and parse them. A `response.create` has the
members of the body of `POST …/responses`; with `stream_id` several responses share the connection.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Literal

from faultwire.errors import WireError
from faultwire.events import RequestView
from faultwire.wire import json_bytes
from faultwire.wire.editing import websocket as websocket_edits
from faultwire.wire.editing.hold_back import HoldBack
from faultwire.wire.editing.json_stream import JsonEditor
from faultwire.wire.framing import split as framing
from faultwire.wire.openai import errors as openai_errors, responses_stream as openai_responses_stream
from faultwire.wire.openai.responses import OpenAIResponses
from faultwire.wire.openai.responses_edits import ResponsesEditor
from faultwire.wire.protocol import Protocol
from faultwire.wire.recognition import recognise as recognition
from faultwire.wire.types import Page, StreamEditor

if TYPE_CHECKING:
    from faultwire.events import Request, Response, ResponseView, ToolResult
    from faultwire.wire.editing.api import Change
    from faultwire.wire.framing.split import Splitter
    from faultwire.wire.types import Rewrite, StreamReader

_CREATE = "response.create"


def lane_of(document: json_bytes.Object) -> str | None:
    """The stream that an event belongs to; the connection's own where it names none."""
    return json_bytes.string(document.get("stream_id"))


class _Reader(openai_responses_stream.Reader):
    framed = websocket_edits.MESSAGES


class SocketEditor(ResponsesEditor):
    """The changes of Responses, as messages."""

    def stream_editor(self, change: Change) -> StreamEditor | None:
        """Each response of the connection."""
        made = super().stream_editor(change)
        return websocket_edits.Editors(partial(self._changer, change), lane_of) if made is not None else None

    def _changer(self, change: Change) -> StreamEditor:
        made = super().stream_editor(change)
        if made is None:
            raise WireError("this change is not supported")
        return _in_messages(made)

    def error_event(self, what: Literal["overloaded", "server_error"], message: str | None) -> bytes:
        """Nested, and with the status that an answer of its own would have."""
        text = message or openai_errors.SERVER_ERROR
        error = {"type": "server_error", "code": "server_error", "message": text, "param": None}
        return json_bytes.dump({"type": "error", "status": 500, "error": error})

    def numbered(self, event: bytes, passed: int) -> bytes:
        """Several responses share the connection; an error is not counted among the events of one."""
        return event


class ResponsesSocket(Protocol):
    """`GET …/responses`, upgraded to a WebSocket."""

    name = "responses_socket"
    edits = SocketEditor()
    methods = frozenset(("GET",))
    socket = True
    text_members = OpenAIResponses.text_members
    errors = staticmethod(openai_errors.error)
    errors_by = openai_errors.BY_PROVIDER
    request_ids = openai_errors.REQUEST_IDS
    page = Page(
        "`GET …/responses`, upgraded to a WebSocket, on a known host; elsewhere `…/v1/responses`",
        "`openai`",
        "as `openai_responses`; messages both ways",
        "all, message by message",
        "a refused upgrade, an error message, a close frame",
    )

    def __init__(self) -> None:
        self._whole = OpenAIResponses()

    def recognise(self, request: Request) -> bool:
        """By path, on hosts of providers; elsewhere only below `/v1`, as the SDKs ask for it."""
        if not websocket_edits.upgrades(request):
            return False
        path = recognition.bare_path(request)
        known = recognition.provider_of(request.host) is not None
        return path.endswith("/responses" if known else "/v1/responses")

    def provider(self, request: Request) -> str:
        """By host; `openai` for hosts that nobody is known to run."""
        return self._whole.provider(request)

    def keeps(self, request: Request) -> bool:
        """A message may name an earlier response instead of repeating it."""
        return True

    def view(self, request: Request) -> RequestView:
        """The upgrade itself says nothing; its messages do."""
        return RequestView(model="", stream=True)

    def request_view(self, body: bytes) -> RequestView:
        """What one message of the client says. Raises WireError."""
        return self._whole.request_view(body)

    def message_view(self, data: bytes) -> RequestView | None:
        """The input of a `response.create`."""
        document = recognition.document(data) if _CREATE.encode() in data else None
        if document is None or document.get("type") != _CREATE:
            return None
        try:
            return self._whole.request_view(data)
        except WireError:
            return None

    def response_view(self, status: int, body: bytes) -> ResponseView:
        """What a refused upgrade says."""
        return self._whole.response_view(status, body)

    def splitter(self, request: Request, response: Response) -> Splitter | None:
        """Each message is one event, once the upgrade was granted."""
        return websocket_edits.Messages() if framing.is_socket(response) else None

    def reader(self) -> StreamReader:
        """Complete with the closing event of the response that began last."""
        return websocket_edits.Responses(_Reader, lane_of)

    def is_terminal(self, event: bytes) -> bool:
        """One of the three closing events; the connection goes on after it."""
        document = recognition.document(event) if b'"response.' in event else None
        return document is not None and document.get("type") in openai_responses_stream.CLOSING

    def replace_result(self, body: bytes, result: ToolResult, rewrite: Rewrite) -> bytes:
        """As in the body of a request."""
        return self._whole.replace_result(body, result, rewrite)

    def truncate(self, body: bytes, max_tokens: int) -> bytes:
        """A whole `response`, as the closing event holds it."""
        return self._whole.truncate(body, max_tokens)

    def truncator(self, max_tokens: int) -> StreamEditor:
        """Each response ends `response.incomplete`."""
        return websocket_edits.Editors(
            lambda: _in_messages(openai_responses_stream.Truncator(max_tokens)), lane_of
        )


def _in_messages(editor: StreamEditor) -> StreamEditor:
    """An editor of server-sent events that is fed messages instead."""
    if isinstance(editor, JsonEditor | HoldBack):
        editor.framed = websocket_edits.MESSAGES
    return editor
