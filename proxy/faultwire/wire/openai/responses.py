"""OpenAI Responses.

Shapes: OpenAI's API reference, as the official SDKs send and parse it. The history may stay with the
provider (`previous_response_id`, `conversation`): then a request brings results of calls that only an
earlier response named.

A response that runs in the background, or any that is stored, is fetched by its id; a stream of it is resumed
in the same way (`GET …/responses/ID?stream=true&starting_after=N`). What is fetched is a model's answer, too.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qs

from faultwire.errors import WireError
from faultwire.events import RequestView, ResponseView, ToolCall, ToolResult, Turn
from faultwire.wire import json_bytes
from faultwire.wire.editing import tool_content
from faultwire.wire.framing import sse
from faultwire.wire.openai import errors as openai_errors, responses_stream as openai_responses_stream
from faultwire.wire.openai.responses_edits import ResponsesEditor
from faultwire.wire.protocol import Protocol
from faultwire.wire.recognition import recognise as recognition
from faultwire.wire.recognition.confirm import Signs
from faultwire.wire.types import Page

if TYPE_CHECKING:
    from faultwire.events import Request
    from faultwire.wire.types import Rewrite, StreamEditor, StreamReader

_RESULTS = frozenset(
    (
        "function_call_output",
        "custom_tool_call_output",
        "local_shell_call_output",
        "apply_patch_call_output",
    )
)
"""Items whose `output` is text, or an array of parts with text."""
_LOADED = "tool_search_output"
"""An item with the tools that a search loaded (`tools`): no text that a tool returned, and no `output`."""
_HELPERS = ("compact", "input_tokens")
_LONGEST_PATH = 1 << 13
_SYSTEM_ROLES = ("system", "developer")
_ASKS = ("input", "previous_response_id", "conversation", "prompt")


class OpenAIResponses(Protocol):
    """`POST …/responses`, and `GET …/responses/ID`."""

    name = "openai_responses"
    methods = frozenset(("POST", "GET"))
    signs = Signs(frozenset(("output",)), ("response",))
    edits = ResponsesEditor()
    settled = ("/responses", "/responses/compact", "/input_tokens")
    by_body = ("/responses",)
    conversation_members = ("conversation", "previous_response_id")
    text_members = frozenset(("delta", "text", "refusal", "arguments", "input", "transcript"))
    errors = staticmethod(openai_errors.error)
    errors_by = openai_errors.BY_PROVIDER
    request_ids = openai_errors.REQUEST_IDS
    dialect = "faultwire.mock.openai_responses:OpenAIResponsesDialect"
    page = Page(
        "`POST …/responses`, `…/responses/compact` on a known host, or with a body that asks "
        "as this API does; `GET …/responses/ID`",
        "`openai`",
        "the same, and what only an earlier response named",
        "all",
        "errors by provider, a numbered error event",
        "yes, and keeps conversations",
    )

    def recognise(self, request: Request) -> bool:
        """By path and (host or body): services of other kinds have a path `…/responses`, too."""
        path = recognition.bare_path(request)
        if request.method == "GET":
            ident = _fetched(path)
            known = recognition.provider_of(request.host) is not None
            return bool(ident) and (known or ident.startswith("resp_"))
        if request.method != "POST":
            return False
        if not path.endswith(("/responses", "/responses/compact")):
            return False
        if recognition.provider_of(request.host) is not None:
            return True
        document = recognition.document(request.body)
        if document is None or "messages" in document:
            return False
        named = isinstance(document.get("model"), str) or isinstance(document.get("prompt"), dict)
        return named and any(key in document for key in _ASKS)

    def provider(self, request: Request) -> str:
        """By host; `openai` for hosts that nobody is known to run."""
        return recognition.provider_of(request.host) or "openai"

    def keeps(self, request: Request) -> bool:
        """Responses are stored unless `store` is false."""
        document = recognition.document(request.body)
        return document is not None and document.get("store") is not False

    def view(self, request: Request) -> RequestView:
        """What is fetched was asked for by an earlier request."""
        if request.method != "GET":
            return self.request_view(request.body or b"")
        asked = parse_qs(request.path.partition("?")[2]) if len(request.path) < _LONGEST_PATH else {}
        return RequestView(model="", stream=asked.get("stream") == ["true"])

    def request_view(self, body: bytes) -> RequestView:
        """The input items. Raises WireError without any of the keys that ask something."""
        document = json_bytes.load_object(body)
        if not any(key in document for key in _ASKS):
            raise WireError("found no `input`, expected the conversation")
        instructions, asked = document.get("instructions"), document.get("input")
        system = [instructions] if isinstance(instructions, str) and instructions else []
        items = (
            [(0, {"role": "user", "content": asked})] if isinstance(asked, str) else json_bytes.objects(asked)
        )
        last = max((at for at, item in items if _is_assistant(item)), default=-1)
        calls: dict[str, ToolCall] = {}
        turns: list[Turn] = []
        for at, item in items:
            turn = _turn(at, item, calls, new=at > last)
            if turn.role in _SYSTEM_ROLES:
                system.append(turn.text)
            elif turn.role:
                turns.append(turn)
            calls.update((call.id, call) for call in turn.tool_calls)
        return RequestView(
            model=json_bytes.string(document.get("model")),
            stream=document.get("stream") is True,
            system="\n".join(system),
            turns=tuple(turns),
            tools=_tools(document),
        )

    def response_view(self, status: int, body: bytes) -> ResponseView:
        """The output items; `error` where the answer is one, whatever its status."""
        document = json_bytes.load_object(body)
        found = openai_responses_stream.answer_of(document)
        if found.error is None and status >= 400:
            return ResponseView(error=f"status {status}")
        return found

    def reader(self) -> StreamReader:
        """Complete with `response.completed`, `response.incomplete` or `response.failed`."""
        return openai_responses_stream.Reader()

    def is_terminal(self, event: bytes) -> bool:
        """One of the three closing events."""
        fields = sse.fields(event)
        return fields is not None and openai_responses_stream.closes(fields)

    def replace_result(self, body: bytes, result: ToolResult, rewrite: Rewrite) -> bytes:
        """The `output` of one item; the protocol has no flag for errors."""
        place = result.path[:-1]
        found = json_bytes.span(body, place)
        item = json_bytes.load(body[slice(*found)]) if found else None
        if (
            json_bytes.member(item, "call_id") != result.call_id
            or json_bytes.member(item, "type") not in _RESULTS
        ):
            raise WireError(f"found no result of call `{result.call_id}` at {list(place)}")
        old = json_bytes.span(body, result.path)
        content = b"null" if old is None else body[slice(*old)]
        new = tool_content.rewritten(content, rewrite, empty_block=True, kind="input_text")
        return json_bytes.put(body, result.path, new)

    def truncate(self, body: bytes, max_tokens: int) -> bytes:
        """`status` `incomplete` because of `max_output_tokens`."""
        return openai_responses_stream.cut_body(body, max_tokens)

    def truncator(self, max_tokens: int) -> StreamEditor:
        """Cuts text and arguments in every event that repeats them, and ends `response.incomplete`."""
        return openai_responses_stream.Truncator(max_tokens)


def _fetched(path: str) -> str:
    """The id of the response that a path names; empty where it names none."""
    before, _, ident = path.rpartition("/")
    return ident if before.endswith("/responses") and ident not in _HELPERS else ""


def _is_assistant(item: json_bytes.Object) -> bool:
    kind = json_bytes.string(item.get("type"))
    return item.get("role") == "assistant" or kind.endswith("_call") or kind == "reasoning"


def _turn(at: int, item: json_bytes.Object, calls: dict[str, ToolCall], *, new: bool) -> Turn:
    kind = json_bytes.string(item.get("type")) or "message"
    call_id = json_bytes.string(item.get("call_id"))
    if kind == _LOADED:
        return Turn("tool", json_bytes.dump(item.get("tools") or []).decode())
    if kind in openai_responses_stream.CALLS:
        return Turn("assistant", "", (openai_responses_stream.call_of(item),))
    if kind.endswith("_output") and call_id:
        call = calls.get(call_id)
        name = (call.name if call else json_bytes.string(item.get("name"))) or None
        text = tool_content.text_of(item.get("output"))
        arguments = call.arguments if call else ""
        result = ToolResult(call_id, name, arguments, text, False, ("input", at, "output"), new)
        return Turn("tool", text, (), (result,))
    if kind != "message":
        return Turn("", "")
    role = json_bytes.string(item.get("role"))
    return Turn(role, tool_content.text_of(item.get("content"), glue="" if role == "assistant" else "\n"))


def _tools(document: json_bytes.Object) -> tuple[str, ...]:
    loaded = [
        item.get("tools")
        for _, item in json_bytes.objects(document.get("input"))
        if item.get("type") == _LOADED
    ]
    names: list[Any] = [
        tool.get("name") or tool.get("type")
        for tools in (document.get("tools"), *loaded)
        for _, tool in json_bytes.objects(tools)
    ]
    return tuple(dict.fromkeys(name for name in names if isinstance(name, str)))
