"""OpenAI Responses.

Shapes: OpenAI's API reference, as the official SDKs send and parse it. The history may stay with the
provider (`previous_response_id`, `conversation`): then a request brings results of calls that only an
earlier response named.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from faultwire.errors import WireError
from faultwire.events import RequestView, ResponseView, ToolCall, ToolResult, Turn
from faultwire.wire import _content, _json, _openai_errors, _recognise, _responses_stream, sse
from faultwire.wire._api import Protocol
from faultwire.wire._confirm import Signs
from faultwire.wire._provider_edits import ResponsesEdits

if TYPE_CHECKING:
    from faultwire.events import Request
    from faultwire.wire._api import Rewrite, StreamEditor, StreamReader

_RESULTS = frozenset(
    (
        "function_call_output",
        "custom_tool_call_output",
        "local_shell_call_output",
        "apply_patch_call_output",
    )
)
"""Items whose `output` is text, or an array of parts with text."""
_SYSTEM_ROLES = ("system", "developer")
_ASKS = ("input", "previous_response_id", "conversation", "prompt")


class OpenAIResponses(Protocol):
    """`POST …/responses`."""

    name = "openai_responses"
    signs = Signs(frozenset(("output",)), ("response",))
    edits = ResponsesEdits()
    settled = ("/responses", "/responses/compact", "/input_tokens")
    by_body = ("/responses",)
    text_members = frozenset(("delta", "text", "refusal", "arguments", "input", "transcript"))
    errors = staticmethod(_openai_errors.error)
    errors_by = _openai_errors.BY_PROVIDER
    request_ids = _openai_errors.REQUEST_IDS

    def recognise(self, request: Request) -> bool:
        """By path and (host or body): services of other kinds have a path `…/responses`, too."""
        if request.method != "POST":
            return False
        path = _recognise.bare_path(request)
        if not path.endswith(("/responses", "/responses/compact")):
            return False
        if _recognise.provider_of(request.host) is not None:
            return True
        document = _recognise.document(request.body)
        if document is None or "messages" in document:
            return False
        named = isinstance(document.get("model"), str) or isinstance(document.get("prompt"), dict)
        return named and any(key in document for key in _ASKS)

    def provider(self, request: Request) -> str:
        """By host; `openai` for hosts that nobody is known to run."""
        return _recognise.provider_of(request.host) or "openai"

    def keeps(self, request: Request) -> bool:
        """Responses are stored unless `store` is false."""
        document = _recognise.document(request.body)
        return document is not None and document.get("store") is not False

    def request_view(self, body: bytes) -> RequestView:
        """The input items. Raises WireError without any of the keys that ask something."""
        document = _json.load_object(body)
        if not any(key in document for key in _ASKS):
            raise WireError("found no `input`, expected the conversation")
        told, asked = document.get("instructions"), document.get("input")
        system = [told] if isinstance(told, str) and told else []
        items = [(0, {"role": "user", "content": asked})] if isinstance(asked, str) else _json.objects(asked)
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
            model=_json.string(document.get("model")),
            stream=document.get("stream") is True,
            system="\n".join(system),
            turns=tuple(turns),
            tools=_tools(document),
        )

    def response_view(self, status: int, body: bytes) -> ResponseView:
        """The output items; `error` where the answer is one, whatever its status."""
        document = _json.load_object(body)
        found = _responses_stream.said(document)
        if found.error is None and status >= 400:
            return ResponseView(error=f"status {status}")
        return found

    def reader(self) -> StreamReader:
        """Complete with `response.completed`, `response.incomplete` or `response.failed`."""
        return _responses_stream.Reader()

    def is_terminal(self, event: bytes) -> bool:
        """One of the three closing events."""
        fields = sse.fields(event)
        return fields is not None and _responses_stream.closes(fields)

    def replace_result(self, body: bytes, result: ToolResult, rewrite: Rewrite) -> bytes:
        """The `output` of one item; the protocol has no flag for errors."""
        place = result.path[:-1]
        found = _json.span(body, place)
        item = _json.load(body[slice(*found)]) if found else None
        if _json.member(item, "call_id") != result.call_id or _json.member(item, "type") not in _RESULTS:
            raise WireError(f"found no result of call `{result.call_id}` at {list(place)}")
        old = _json.span(body, result.path)
        content = b"null" if old is None else body[slice(*old)]
        new = _content.rewritten(content, rewrite, empty_block=True, kind="input_text")
        return _json.put(body, result.path, new)

    def truncate(self, body: bytes, max_tokens: int) -> bytes:
        """`status` `incomplete` because of `max_output_tokens`."""
        return _responses_stream.cut_body(body, max_tokens)

    def truncator(self, max_tokens: int) -> StreamEditor:
        """Cuts text and arguments in every event that repeats them, and ends `response.incomplete`."""
        return _responses_stream.Truncator(max_tokens)


def _is_assistant(item: _json.Object) -> bool:
    kind = _json.string(item.get("type"))
    return item.get("role") == "assistant" or kind.endswith("_call") or kind == "reasoning"


def _turn(at: int, item: _json.Object, calls: dict[str, ToolCall], *, new: bool) -> Turn:
    kind = _json.string(item.get("type")) or "message"
    call_id = _json.string(item.get("call_id"))
    if kind in _responses_stream.CALLS:
        return Turn("assistant", "", (_responses_stream.call_of(item),))
    if kind.endswith("_output") and call_id:
        call = calls.get(call_id)
        name = (call.name if call else _json.string(item.get("name"))) or None
        text = _content.text_of(item.get("output"))
        arguments = call.arguments if call else ""
        result = ToolResult(call_id, name, arguments, text, False, ("input", at, "output"), new)
        return Turn("tool", text, (), (result,))
    if kind != "message":
        return Turn("", "")
    role = _json.string(item.get("role"))
    return Turn(role, _content.text_of(item.get("content"), glue="" if role == "assistant" else "\n"))


def _tools(document: _json.Object) -> tuple[str, ...]:
    names: list[Any] = [
        tool.get("name") or tool.get("type") for _, tool in _json.objects(document.get("tools"))
    ]
    return tuple(name for name in names if isinstance(name, str))
