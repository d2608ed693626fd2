"""OpenAI Realtime: a session of many responses over one WebSocket, GA and beta, OpenAI's and Azure's.

Shapes: OpenAI's API reference (Realtime client and server events), as the official SDKs send and parse
them. The server keeps the conversation: each message of the client brings something new to it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import parse_qs

from faultwire.errors import WireError
from faultwire.events import RequestView, ToolResult, Turn, header
from faultwire.wire import json_bytes
from faultwire.wire.editing import tool_content, websocket as websocket_edits
from faultwire.wire.framing import split as framing
from faultwire.wire.openai import errors as openai_errors, realtime_stream as openai_realtime_stream
from faultwire.wire.openai.realtime_edits import RealtimeEditor, items_of
from faultwire.wire.openai.responses import OpenAIResponses
from faultwire.wire.protocol import Protocol
from faultwire.wire.recognition import recognise as recognition
from faultwire.wire.types import Page

if TYPE_CHECKING:
    from faultwire.events import Path, Request, Response, ResponseView
    from faultwire.wire.framing.split import Splitter
    from faultwire.wire.types import Rewrite, StreamEditor, StreamReader

SUBPROTOCOL = "realtime"
BETA = "realtime=v1"
_NAMES_A_SESSION = ("model", "deployment", "call_id", "intent")
"""Query fields of which one says what the session is for."""
_HINTS = frozenset(("conversation.item.create", "response.create", "session.update"))


class Realtime(Protocol):
    """`GET …/realtime?model=…`, upgraded to a WebSocket."""

    name = "realtime"
    edits = RealtimeEditor()
    methods = frozenset(("GET",))
    socket = True
    settled = ("/realtime",)
    text_members = frozenset(("delta", "text", "transcript", "arguments"))
    errors = staticmethod(openai_errors.error)
    errors_by = openai_errors.BY_PROVIDER
    request_ids = openai_errors.REQUEST_IDS
    page = Page(
        "`GET …/realtime`, upgraded to a WebSocket, on a known host, or with a query "
        "(`model`, `deployment`, `call_id`, `intent`), a subprotocol or a beta header that "
        "only this API has",
        "`openai`",
        "instructions, items, calls, results, answers, usage; messages both ways",
        "all, message by message",
        "a refused upgrade, an error message, a close frame",
    )

    def recognise(self, request: Request) -> bool:
        """By path, and a host, a header or a query that only this protocol has."""
        if not websocket_edits.upgrades(request) or not recognition.bare_path(request).endswith("/realtime"):
            return False
        return (
            recognition.provider_of(request.host) is not None
            or any(key in _query(request) for key in _NAMES_A_SESSION)
            or SUBPROTOCOL in _offered(request)
            or header(request.headers, "openai-beta") == BETA
        )

    def provider(self, request: Request) -> str:
        """By host; `openai` for hosts that nobody is known to run."""
        return recognition.provider_of(request.host) or "openai"

    def keeps(self, request: Request) -> bool:
        """The session is the conversation."""
        return True

    def view(self, request: Request) -> RequestView:
        """What the upgrade says: the model, or Azure's deployment of one."""
        query = _query(request)
        named = next((query[key][0] for key in ("model", "deployment") if key in query), "")
        return RequestView(model=named, stream=True)

    def request_view(self, body: bytes) -> RequestView:
        """What one message of the client says. Raises WireError where it tells the model nothing."""
        found = self.message_view(body)
        if found is None:
            raise WireError("found no message that tells the model anything")
        return found

    def message_view(self, data: bytes) -> RequestView | None:
        """Instructions and tools of the session, or the items that a message brings."""
        if not any(hint.encode() in data for hint in _HINTS):
            return None  # audio, mostly: by far the most and the longest messages
        try:
            document = json_bytes.load_object(data)
        except WireError:
            return None
        if document.get("type") not in _HINTS:
            return None
        about = document.get("session", document.get("response"))
        turns = (_turn(place, item) for place, item in items_of(document))
        tools = (tool.get("name") for _, tool in json_bytes.objects(json_bytes.member(about, "tools")))
        return RequestView(
            model=json_bytes.string(json_bytes.member(about, "model")),
            stream=True,
            system=json_bytes.string(json_bytes.member(about, "instructions")),
            turns=tuple(turn for turn in turns if turn.role),
            tools=tuple(name for name in tools if isinstance(name, str)),
        )

    def response_view(self, status: int, body: bytes) -> ResponseView:
        """What a refused upgrade says: an error as of all of OpenAI's endpoints."""
        return OpenAIResponses().response_view(status, body)

    def splitter(self, request: Request, response: Response) -> Splitter | None:
        """Each message is one event, once the upgrade was granted."""
        return websocket_edits.Messages() if framing.is_socket(response) else None

    def reader(self) -> StreamReader:
        """Complete with the `response.done` of the response that began last."""
        return websocket_edits.Responses(openai_realtime_stream.Reader, openai_realtime_stream.Lanes())

    def is_terminal(self, event: bytes) -> bool:
        """`response.done`: the session goes on after it, with the next response."""
        if b'"response.done"' not in event:
            return False
        document = recognition.document(event)
        return document is not None and document.get("type") == openai_realtime_stream.DONE

    def replace_result(self, body: bytes, result: ToolResult, rewrite: Rewrite) -> bytes:
        """The `output` of one `function_call_output`; the protocol has no flag for errors."""
        place = result.path[:-1]
        found = json_bytes.span(body, place)
        item = json_bytes.load(body[slice(*found)]) if found else None
        kind_and_call = (json_bytes.member(item, "type"), json_bytes.member(item, "call_id"))
        if kind_and_call != ("function_call_output", result.call_id):
            raise WireError(f"found no result of call `{result.call_id}` at {list(place)}")
        old = json_bytes.span(body, result.path)
        content = b"null" if old is None else body[slice(*old)]
        return json_bytes.put(
            body, result.path, tool_content.rewritten(content, rewrite, empty_block=True, kind="input_text")
        )

    def truncate(self, body: bytes, max_tokens: int) -> bytes:
        """A whole `response`, as `response.done` holds it."""
        return openai_realtime_stream.cut_response(body, max_tokens)

    def truncator(self, max_tokens: int) -> StreamEditor:
        """Each response of the session ends `incomplete` because of `max_output_tokens`."""
        return websocket_edits.Editors(
            lambda: openai_realtime_stream.Truncator(max_tokens), openai_realtime_stream.Lanes()
        )


def _turn(place: Path, item: json_bytes.Object) -> Turn:
    call_id = json_bytes.string(item.get("call_id"))
    match item.get("type"):
        case "function_call_output" if call_id:
            text = tool_content.text_of(item.get("output"))
            result = ToolResult(call_id, None, "", text, False, (*place, "output"), new=True)
            return Turn("tool", text, (), (result,))
        case "function_call":
            return Turn("assistant", "", (openai_realtime_stream.call_of(item),))
        case "message":
            blocks = (block for _, block in json_bytes.objects(item.get("content")))
            texts = (json_bytes.string(block.get("text") or block.get("transcript")) for block in blocks)
            return Turn(json_bytes.string(item.get("role")), "\n".join(text for text in texts if text))
    return Turn("", "")


def _query(request: Request) -> dict[str, list[str]]:
    return parse_qs(request.path.partition("?")[2], max_num_fields=None)


def _offered(request: Request) -> tuple[str, ...]:
    """The subprotocols that the client offers."""
    offered = (value for name, value in request.headers if name.lower() == "sec-websocket-protocol")
    return tuple(word.strip() for value in offered for word in value.split(","))
