"""Amazon Bedrock's Converse.

Shapes: AWS's API reference, as boto3 sends and parses it. Streams are event-stream frames. Requests are
usually signed (Signature Version 4, over the body), and a signed one is never rewritten.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote

from faultwire.errors import WireError
from faultwire.events import RequestView, ResponseView, ToolCall, ToolResult, Turn
from faultwire.wire import json_bytes
from faultwire.wire.bedrock import errors as bedrock_errors, stream as bedrock_stream
from faultwire.wire.bedrock.edits import BedrockEditor
from faultwire.wire.editing import tool_content
from faultwire.wire.editing.json_stream import FRAMES
from faultwire.wire.protocol import Protocol
from faultwire.wire.recognition import recognise as recognition
from faultwire.wire.recognition.confirm import Signs
from faultwire.wire.types import Page

if TYPE_CHECKING:
    from faultwire.events import Path, Request
    from faultwire.wire.types import Rewrite, StreamEditor, StreamReader


class Bedrock(Protocol):
    """`POST …/model/{id}/converse` and `…/converse-stream`."""

    name = "bedrock"
    signs = Signs(frozenset(("output", "stopReason")), media=("application/vnd.amazon.eventstream",))
    edits = BedrockEditor()
    hosts = (("amazonaws.com", "aws"), ("api.aws", "aws"))
    settled = ("/converse", "/converse-stream")
    text_members = frozenset(("text", "input"))
    errors = staticmethod(bedrock_errors.error)
    request_ids = ("x-amzn-requestid",)
    dialect = "faultwire.mock.bedrock:BedrockDialect"
    mocked = (
        "bedrock-runtime.*.amazonaws.com",
        "bedrock-runtime-fips.*.amazonaws.com",
        "bedrock-mantle.*.api.aws",
    )
    page = Page(
        "`POST …/model/{id}/converse`, `/converse-stream`",
        "`aws`",
        "the same; event-stream frames with checksums",
        "answers; requests unless signed",
        "errors, an exception frame",
    )

    def recognise(self, request: Request) -> bool:
        """By path, which names the model: an id, or an ARN whose slashes are escaped."""
        return request.method == "POST" and model_in(request, "converse", "converse-stream") is not None

    def provider(self, request: Request) -> str:
        """By host; `aws` for hosts that nobody is known to run."""
        return recognition.provider_of(request.host) or "aws"

    def view(self, request: Request) -> RequestView:
        """With the model and the way of answering, which only the path tells."""
        found = self.request_view(request.body or b"")
        streams = recognition.bare_path(request).endswith("-stream")
        return replace(found, model=model_in(request, "converse", "converse-stream") or "", stream=streams)

    def request_view(self, body: bytes) -> RequestView:
        """The conversation. Raises WireError without an array of `messages`."""
        document = json_bytes.load_object(body)
        messages = document.get("messages")
        if not isinstance(messages, list):
            raise WireError("found no array `messages`, expected the conversation")
        last = max((at for at, m in json_bytes.objects(messages) if m.get("role") == "assistant"), default=-1)
        calls: dict[str, ToolCall] = {}
        turns: list[Turn] = []
        for at, message in json_bytes.objects(messages):
            turns.append(_turn(("messages", at, "content"), message, calls, new=at > last))
            calls.update((call.id, call) for call in turns[-1].tool_calls)
        tools = json_bytes.objects(json_bytes.member(document, "toolConfig", "tools"))
        names = (json_bytes.member(tool, "toolSpec", "name") for _, tool in tools)
        return RequestView(
            model="",
            stream=False,
            system=bedrock_stream.text_of(document.get("system"), "\n"),
            turns=tuple(turns),
            tools=tuple(name for name in names if isinstance(name, str)),
        )

    def response_view(self, status: int, body: bytes) -> ResponseView:
        """The message; an error has a `message` that is text."""
        document = json_bytes.load_object(body)
        text = document.get("message", document.get("Message"))
        if status >= 400 or isinstance(text, str):
            return ResponseView(error=json_bytes.string(text) or f"status {status}")
        content = json_bytes.member(document, "output", "message", "content")
        return ResponseView(
            text=bedrock_stream.text_of(content),
            finish_reason=json_bytes.string(document.get("stopReason")) or None,
            tool_calls=_calls(content),
            usage=bedrock_stream.usage_of(document.get("usage")),
        )

    def reader(self) -> StreamReader:
        """Complete with `metadata`, which follows `messageStop`."""
        return bedrock_stream.Reader()

    def is_terminal(self, event: bytes) -> bool:
        """`metadata`."""
        try:
            found = FRAMES.read(event)
        except WireError:
            return False
        return found is not None and found[0] == "metadata"

    def replace_result(self, body: bytes, result: ToolResult, rewrite: Rewrite) -> bytes:
        """The `content` of one `toolResult`, and its `status` where that differs."""
        place = result.path[:-1]
        found = json_bytes.span(body, place)
        block = json_bytes.load(body[slice(*found)]) if found else None
        if not isinstance(block, dict) or block.get("toolUseId") != result.call_id:
            raise WireError(f"found no result of call `{result.call_id}` at {list(place)}")
        body = _rewritten(body, result.path, block.get("content"), rewrite)
        status = "error" if rewrite.is_error else "success"
        if (block.get("status") or "success") != status:
            body = json_bytes.put(body, (*place, "status"), json_bytes.dump(status))
        return body

    def truncate(self, body: bytes, max_tokens: int) -> bytes:
        """`stopReason` `max_tokens`; a call that does not fit goes whole: its input is no text."""
        return bedrock_stream.cut_body(body, max_tokens)

    def truncator(self, max_tokens: int) -> StreamEditor:
        """Cuts a call's partial JSON where the budget ends, as the provider does."""
        return bedrock_stream.Truncator(max_tokens)


def model_in(request: Request, *methods: str) -> str | None:
    """The model that the path names, None where it ends in none of these methods."""
    rest, _, method = recognition.bare_path(request).rpartition("/")
    if method not in methods:
        return None
    _, found, model = rest.rpartition("/model/")
    return unquote(model) if found and model and "/" not in model else None


def _turn(place: Path, message: json_bytes.Object, calls: dict[str, ToolCall], *, new: bool) -> Turn:
    content = message.get("content")
    results = []
    for at, block in json_bytes.objects(content):
        result = block.get("toolResult")
        if not isinstance(result, dict):
            continue
        call_id = json_bytes.string(result.get("toolUseId"))
        call = calls.get(call_id)
        results.append(
            ToolResult(
                call_id=call_id,
                name=(call.name or None) if call else None,
                arguments=call.arguments if call else "",
                text="\n".join(_texts(result.get("content"))),
                is_error=result.get("status") == "error",
                path=(*place, at, "toolResult", "content"),
                new=new,
            )
        )
    role = json_bytes.string(message.get("role"))
    return Turn(role, bedrock_stream.text_of(content), _calls(content), tuple(results))


def _calls(content: Any) -> tuple[ToolCall, ...]:
    uses = [
        block["toolUse"] for _, block in json_bytes.objects(content) if isinstance(block.get("toolUse"), dict)
    ]
    return tuple(
        ToolCall(
            json_bytes.string(use.get("toolUseId")),
            json_bytes.string(use.get("name")),
            json_bytes.dump(use.get("input", {})).decode(),
        )
        for use in uses
    )


def _texts(content: Any) -> list[str]:
    found = []
    for _, block in json_bytes.objects(content):
        if isinstance(block.get("text"), str):
            found.append(block["text"])
        elif "json" in block:
            found.append(json_bytes.dump(block["json"]).decode())
    return found


def _rewritten(body: bytes, path: Path, content: Any, rewrite: Rewrite) -> bytes:
    """The first block with words carries the new ones; other words go, images and the like stay."""
    worded = [at for at, block in json_bytes.objects(content) if "text" in block or "json" in block]
    if not worded:
        whole = json_bytes.span(body, path)
        block = json_bytes.dump({"text": json_bytes.whole(rewrite.text)})
        array = body[slice(*whole)] if whole and isinstance(content, list) else b"[]"
        return json_bytes.put(body, path, json_bytes.insert_first(array, block))
    first = worded[0]
    if "json" in content[first]:
        text = tool_content.like(json_bytes.dump(content[first]["json"]).decode(), rewrite)
        parsed = json_bytes.load(text) if json_bytes.is_json(text) else None
        value = parsed if isinstance(parsed, dict) else {"result": json_bytes.whole(rewrite.text)}
        body = json_bytes.put(body, (*path, first, "json"), json_bytes.dump(value))
    else:
        text = tool_content.like(json_bytes.string(content[first]["text"]), rewrite)
        body = json_bytes.put(body, (*path, first, "text"), json_bytes.dump(text))
    for at in reversed(worded[1:]):
        body = json_bytes.drop(body, (*path, at))
    return body
