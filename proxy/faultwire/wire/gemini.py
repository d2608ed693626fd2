"""Gemini generateContent, on Google's own API and on Vertex.

Shapes: Google's API reference, as google-genai and the older SDKs send and parse it. The path names the
model and says whether the answer streams; without `alt=sse` a stream is one JSON array.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote

from faultwire import _core
from faultwire.errors import WireError
from faultwire.events import RequestView, ResponseView, ToolCall, ToolResult, Turn
from faultwire.wire import _content, _gemini_errors, _gemini_stream, _json, _recognise, framing
from faultwire.wire._api import Protocol
from faultwire.wire._confirm import Signs
from faultwire.wire._gather import SSE_OR_ELEMENTS
from faultwire.wire._ids import Chain
from faultwire.wire._provider_edits import GeminiEdits

if TYPE_CHECKING:
    from faultwire.events import Path, Request, Response
    from faultwire.wire._api import Rewrite, StreamEditor, StreamReader

_STREAMS = "streamGenerateContent"
_METHODS = frozenset(("generateContent", _STREAMS, "embedContent", "batchEmbedContents"))


class Gemini(Protocol):
    """`POST …/models/{model}:generateContent`, and its streaming and embedding sisters."""

    name = "gemini"
    signs = Signs(frozenset(("candidates", "embedding", "embeddings", "promptFeedback", "usageMetadata")))
    edits = GeminiEdits()
    hosts = (
        ("generativelanguage.googleapis.com", "google"),
        ("aiplatform.googleapis.com", "google"),
        ("-aiplatform.googleapis.com", "google"),
    )
    text_members = frozenset(("text",))
    errors = staticmethod(_gemini_errors.error)
    request_ids = ()

    def recognise(self, request: Request) -> bool:
        """By path; elsewhere by a body with `contents` of `parts`."""
        if request.method != "POST":
            return False
        path = _recognise.bare_path(request)
        if _method(path) in _METHODS:
            return True
        if request.body is None or _recognise.is_settled(path) or b'"contents"' not in request.body:
            return False
        contents = _json.member(_recognise.document(request.body), "contents")
        found = _json.objects(contents)
        return bool(found) and all(isinstance(content.get("parts"), list) for _, content in found)

    def provider(self, request: Request) -> str:
        """By host; `google` for hosts that nobody is known to run."""
        return _recognise.provider_of(request.host) or "google"

    def view(self, request: Request) -> RequestView:
        """With the model and the way of answering, which only the path tells."""
        bare = _recognise.bare_path(request)
        told = self.request_view(request.body or b"")
        model = unquote(bare).rpartition("/models/")[2].partition(":")[0]
        return replace(told, model=model or told.model, stream=_method(bare) == _STREAMS)

    def splitter(self, request: Request, response: Response) -> framing.Splitter | None:
        """By content type; a stream that nobody asked for as SSE is one array of answers."""
        if _method(_recognise.bare_path(request)) != _STREAMS or response.status >= 300:
            return super().splitter(request, response)
        if framing.content_type(response.headers) == framing.JSON:
            return _core.ArraySplitter()
        return super().splitter(request, response)

    def request_view(self, body: bytes) -> RequestView:
        """The conversation. Raises WireError without `contents` (or `content`, to be embedded)."""
        document = _json.load_object(body)
        contents = document.get("contents")
        if not isinstance(contents, list):
            if "content" not in document and "requests" not in document:
                raise WireError("found no array `contents`, expected the conversation")
            return _embedded(document)
        spoken = [at for at, content in _json.objects(contents) if content.get("role") == "model"]
        last = spoken[-1] if spoken else -1
        chain = Chain()
        calls: dict[str, ToolCall] = {}
        turns = [_turn(at, c, chain, calls, new=at > last) for at, c in _json.objects(contents)]
        return RequestView(
            model=_json.string(document.get("model")),
            stream=False,
            system=_gemini_stream.text_of(_either(document, "systemInstruction")),
            turns=tuple(turns),
            tools=_tools(document),
        )

    def response_view(self, status: int, body: bytes) -> ResponseView:
        """The first candidate; of an array of answers (a stream without `alt=sse`) their sum."""
        document = _json.load(body)
        reader = _gemini_stream.Reader()
        for part in document if isinstance(document, list) else [document]:
            if not isinstance(part, dict):
                raise WireError("found no JSON object, expected an answer")
            reader.take("", part)
        found = reader.view()
        if found.error is None and status >= 400:
            return ResponseView(error=f"status {status}")
        return found if isinstance(document, list) else replace(found, complete=True)

    def reader(self) -> StreamReader:
        """Complete with a `finishReason`."""
        return _gemini_stream.Reader()

    def is_terminal(self, event: bytes) -> bool:
        """A whole answer with a `finishReason`: the last event, there is no other mark."""
        found = SSE_OR_ELEMENTS.read(event)
        if found is None or b'"finishReason"' not in found[1]:
            return False
        return _gemini_stream.finish_of(_recognise.document(found[1]) or {}) is not None

    def replace_result(self, body: bytes, result: ToolResult, rewrite: Rewrite) -> bytes:
        """The `response` of one part, always an object: `{"error": …}` for errors, as the SDK writes it."""
        found = _json.span(body, result.path)
        if found is None:
            raise WireError(f"found no result of call `{result.call_id}` at {list(result.path)}")
        return _json.put(body, result.path, _rewritten(_json.load(body[slice(*found)]), rewrite))

    def truncate(self, body: bytes, max_tokens: int) -> bytes:
        """`finishReason` `MAX_TOKENS`; a call that does not fit goes whole: its arguments are no text."""
        return _gemini_stream.cut_body(body, max_tokens)

    def truncator(self, max_tokens: int) -> StreamEditor:
        """The same; the last event stays, with what it counts."""
        return _gemini_stream.Truncator(max_tokens)


def _method(path: str) -> str:
    """The word behind the colon, where the path is one of a model of Google's."""
    last = path.rpartition("/")[2].replace("%3A", ":")
    model, colon, method = last.rpartition(":")
    known = colon and model and ("/models/" in path or "/tunedModels/" in path or "/endpoints/" in path)
    return method if known and "/publishers/anthropic/" not in path else ""


def _either(holder: _json.Object, name: str) -> Any:
    """A member by its JSON name, or by the name in the proto, which REST takes, too."""
    snake = "".join(f"_{c.lower()}" if c.isupper() else c for c in name)
    return holder.get(name, holder.get(snake))


def _turn(at: int, content: _json.Object, chain: Chain, calls: dict[str, ToolCall], *, new: bool) -> Turn:
    place: Path = ("contents", at, "parts")
    made: list[ToolCall] = []
    results: list[ToolResult] = []
    for part, block in _json.objects(content.get("parts")):
        call, answer = _either(block, "functionCall"), _either(block, "functionResponse")
        if isinstance(call, dict):
            name, arguments = _json.string(call.get("name")), _json.dump(call.get("args") or {}).decode()
            invented = chain.call(name, arguments)
            made.append(ToolCall(_json.string(call.get("id")) or invented, name, arguments))
            calls[made[-1].id] = made[-1]
        elif isinstance(answer, dict):
            key = "functionResponse" if "functionResponse" in block else "function_response"
            results.append(_result(answer, (*place, part, key, "response"), chain, calls, new=new))
    text = _gemini_stream.text_of(content)
    chain.say(_json.string(content.get("role")), text)
    role = "assistant" if content.get("role") == "model" else "user"
    return Turn("tool" if results and not text else role, text, tuple(made), tuple(results))


def _result(
    answer: _json.Object, path: Path, chain: Chain, calls: dict[str, ToolCall], *, new: bool
) -> ToolResult:
    name = _json.string(answer.get("name"))
    call_id = _json.string(answer.get("id")) or chain.answer(name)
    call = calls.get(call_id)
    value = answer.get("response")
    key = _said_under(value)
    said = _json.member(value, key) if key else value
    text = said if isinstance(said, str) else _json.dump(said).decode()
    chain.say(text)
    arguments = call.arguments if call else ""
    return ToolResult(call_id, name or None, arguments, text, key == "error", path, new)


def _said_under(value: Any) -> str | None:
    """The one key under which SDKs put what a function returned."""
    if not isinstance(value, dict) or len(value) != 1:
        return None
    return next((key for key in ("result", "output", "error") if key in value), None)


def _rewritten(value: Any, rewrite: Rewrite) -> bytes:
    key = _said_under(value)
    said = value[key] if key else None
    if rewrite.is_error:
        return _json.dump({"error": _json.whole(rewrite.text)})
    if key is None and isinstance(value, dict) and value:
        told = _content.like(_json.dump(value).decode(), rewrite)
        parsed = _json.load(told) if _json.is_json(told) else None
        return _json.dump(parsed if isinstance(parsed, dict) else {"result": _json.whole(rewrite.text)})
    name = key if key in ("result", "output") else "result"
    if isinstance(said, dict | list):
        told = _content.like(_json.dump(said).decode(), rewrite)
        return _json.dump({name: _json.load(told) if _json.is_json(told) else _json.whole(told)})
    return _json.dump({name: _json.whole(rewrite.text)})


def _tools(document: _json.Object) -> tuple[str, ...]:
    found: list[str] = []
    for _, tool in _json.objects(document.get("tools")):
        declared = _json.objects(_either(tool, "functionDeclarations"))
        found += [_json.string(function.get("name")) for _, function in declared]
        found += [name for name in tool if name not in ("functionDeclarations", "function_declarations")]
    return tuple(name for name in found if name)


def _embedded(document: _json.Object) -> RequestView:
    asked = [document, *(request for _, request in _json.objects(document.get("requests")))]
    texts = [_gemini_stream.text_of(one.get("content")) for one in asked]
    turns = tuple(Turn("user", text) for text in texts if text)
    return RequestView(_json.string(document.get("model")), stream=False, turns=turns)
