"""Gemini Interactions, the API that keeps the conversation.

Shapes: Google's API reference, as google-genai sends and parses it. With `previous_interaction_id` a request
brings only what is new: results of calls that only an earlier response named.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from faultwire.errors import WireError
from faultwire.events import RequestView, ResponseView, ToolCall, ToolResult, Turn
from faultwire.wire import json_bytes
from faultwire.wire.editing import tool_content
from faultwire.wire.framing import sse
from faultwire.wire.google import errors as google_errors, interactions_stream
from faultwire.wire.google.interactions_edits import InteractionsEditor
from faultwire.wire.protocol import Protocol
from faultwire.wire.recognition import recognise as recognition
from faultwire.wire.recognition.confirm import Signs
from faultwire.wire.types import Page

if TYPE_CHECKING:
    from faultwire.events import Path, Request
    from faultwire.wire.types import Rewrite, StreamEditor, StreamReader

_ASKS = ("input", "previous_interaction_id", "continuation_token")
_CONTENT = ("text", "image", "audio", "video", "document")
_MADE = ("model_output", "function_call", "thought")


class Interactions(Protocol):
    """`POST /{version}/interactions`."""

    name = "interactions"
    signs = Signs(frozenset(("steps",)), ("interaction.", "step."))
    edits = InteractionsEditor()
    settled = ("/interactions",)
    by_body = ("/interactions",)
    conversation_members = ("previous_interaction_id",)
    text_members = frozenset(("text", "arguments"))
    errors = staticmethod(google_errors.error)
    request_ids = ()
    dialect = "faultwire.mock.interactions:InteractionsDialect"
    page = Page(
        "`POST …/interactions` on Google's hosts, or with `model` or `agent` and something that is asked",
        "`google`",
        "steps, and what only an earlier interaction named; server-sent events",
        "all",
        "errors, an error event",
        "yes, and keeps conversations",
    )

    def recognise(self, request: Request) -> bool:
        """By path and (host or body): services of other kinds have a path `…/interactions`, too."""
        if request.method != "POST" or not recognition.bare_path(request).endswith("/interactions"):
            return False
        if recognition.provider_of(request.host) == "google":
            return True
        document = recognition.document(request.body)
        if document is None:
            return False
        named = any(isinstance(document.get(key), str) for key in ("model", "agent"))
        return named and any(key in document for key in _ASKS)

    def provider(self, request: Request) -> str:
        """By host; `google` for hosts that nobody is known to run."""
        return recognition.provider_of(request.host) or "google"

    def keeps(self, request: Request) -> bool:
        """Interactions are stored unless `store` is false."""
        document = recognition.document(request.body)
        return document is not None and document.get("store") is not False

    def request_view(self, body: bytes) -> RequestView:
        """The input: a text, content, or steps. Raises WireError without anything that asks."""
        document = json_bytes.load_object(body)
        if not any(key in document for key in _ASKS):
            raise WireError("found no `input`, expected the conversation")
        asked = document.get("input")
        return RequestView(
            model=json_bytes.string(document.get("model")) or json_bytes.string(document.get("agent")),
            stream=document.get("stream") is True,
            system=json_bytes.string(document.get("system_instruction")),
            turns=tuple(turn for turn in _turns(asked) if turn.role),
            tools=_tools(document),
        )

    def response_view(self, status: int, body: bytes) -> ResponseView:
        """The steps; `error` where the answer is one, whatever its status."""
        found = interactions_stream.answer_of(json_bytes.load_object(body))
        if found.error is None and status >= 400:
            return ResponseView(error=f"status {status}")
        return found

    def reader(self) -> StreamReader:
        """Complete with `interaction.completed`."""
        return interactions_stream.Reader()

    def is_terminal(self, event: bytes) -> bool:
        """`interaction.completed`, or the `[DONE]` behind it."""
        fields = sse.fields(event)
        return fields is not None and interactions_stream.closes(fields)

    def replace_result(self, body: bytes, result: ToolResult, rewrite: Rewrite) -> bytes:
        """The `result` of one step, its container kept, and `is_error` where it is one."""
        place = result.path[:-1]
        found = json_bytes.span(body, place)
        step = json_bytes.load(body[slice(*found)]) if found else None
        if (
            json_bytes.member(step, "call_id") != result.call_id
            or json_bytes.member(step, "type") != "function_result"
        ):
            raise WireError(f"found no result of call `{result.call_id}` at {list(place)}")
        body = json_bytes.put(body, result.path, _rewritten(json_bytes.member(step, "result"), rewrite))
        if rewrite.is_error or json_bytes.member(step, "is_error"):
            body = json_bytes.put(body, (*place, "is_error"), b"true" if rewrite.is_error else b"false")
        return body

    def truncate(self, body: bytes, max_tokens: int) -> bytes:
        """`status` `incomplete`; a call that does not fit goes whole."""
        return interactions_stream.cut_body(body, max_tokens)

    def truncator(self, max_tokens: int) -> StreamEditor:
        """Cuts text and arguments, and completes as `incomplete`."""
        return interactions_stream.Truncator(max_tokens)


def _turns(asked: Any) -> list[Turn]:
    if isinstance(asked, str):
        return [Turn("user", asked)]
    if isinstance(asked, dict):
        return [Turn("user", tool_content.text_of([asked]))]
    steps = json_bytes.objects(asked)
    if steps and all(step.get("type") in _CONTENT for _, step in steps):
        return [Turn("user", tool_content.text_of(asked))]
    last = max((at for at, step in steps if step.get("type") in _MADE), default=-1)
    calls: dict[str, ToolCall] = {}
    turns = []
    for at, step in steps:
        turns.append(_turn(at, step, calls, new=at > last))
        calls.update((call.id, call) for call in turns[-1].tool_calls)
    return turns


def _turn(at: int, step: json_bytes.Object, calls: dict[str, ToolCall], *, new: bool) -> Turn:
    match step.get("type"):
        case "user_input":
            return Turn("user", tool_content.text_of(step.get("content")))
        case "model_output":
            return Turn("assistant", interactions_stream.text_of(step))
        case "function_call":
            return Turn("assistant", "", (interactions_stream.call_of(step),))
        case "function_result":
            result = _result(step, ("input", at, "result"), calls, new=new)
            return Turn("tool", result.text, (), (result,))
        case kind if kind in _CONTENT:
            return Turn("user", tool_content.text_of([step]))
    return Turn("", "")


def _result(step: json_bytes.Object, path: Path, calls: dict[str, ToolCall], *, new: bool) -> ToolResult:
    call_id = json_bytes.string(step.get("call_id"))
    call = calls.get(call_id)
    name = (call.name if call else json_bytes.string(step.get("name"))) or None
    value = step.get("result")
    text = tool_content.text_of(value) if isinstance(value, str | list) else json_bytes.dump(value).decode()
    arguments = call.arguments if call else ""
    return ToolResult(call_id, name, arguments, text, step.get("is_error") is True, path, new)


def _rewritten(value: Any, rewrite: Rewrite) -> bytes:
    if not isinstance(value, dict):
        return tool_content.rewritten(json_bytes.dump(value), rewrite, empty_block=True)
    text = tool_content.like(json_bytes.dump(value).decode(), rewrite)
    parsed = json_bytes.load(text) if json_bytes.is_json(text) else None
    key = "error" if rewrite.is_error else "result"
    return json_bytes.dump(parsed if isinstance(parsed, dict) else {key: json_bytes.whole(rewrite.text)})


def _tools(document: json_bytes.Object) -> tuple[str, ...]:
    names: list[Any] = [
        tool.get("name") or tool.get("type") for _, tool in json_bytes.objects(document.get("tools"))
    ]
    return tuple(name for name in names if isinstance(name, str))
