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
from faultwire.wire import json_bytes
from faultwire.wire.editing import tool_content
from faultwire.wire.editing.ids import Chain
from faultwire.wire.editing.json_stream import SSE_OR_ELEMENTS
from faultwire.wire.framing import split as framing
from faultwire.wire.google import errors as google_errors, gemini_stream
from faultwire.wire.google.gemini_edits import GeminiEditor
from faultwire.wire.protocol import Protocol
from faultwire.wire.recognition import recognise as recognition
from faultwire.wire.recognition.confirm import Signs
from faultwire.wire.types import BaseUrl, Page

if TYPE_CHECKING:
    from faultwire.events import Path, Request, Response
    from faultwire.wire.types import Rewrite, StreamEditor, StreamReader

_STREAMS = "streamGenerateContent"
_METHODS = frozenset(("generateContent", _STREAMS, "embedContent", "batchEmbedContents"))


class Gemini(Protocol):
    """`POST …/models/{model}:generateContent`, and its streaming and embedding sisters."""

    name = "gemini"
    signs = Signs(frozenset(("candidates", "embedding", "embeddings", "promptFeedback", "usageMetadata")))
    edits = GeminiEditor()
    hosts = (
        ("generativelanguage.googleapis.com", "google"),
        ("aiplatform.googleapis.com", "google"),
        ("-aiplatform.googleapis.com", "google"),
    )
    text_members = frozenset(("text",))
    errors = staticmethod(google_errors.error)
    request_ids = ()
    dialect = "faultwire.mock.gemini:GeminiDialect"
    mocked = (
        "generativelanguage.googleapis.com",
        "aiplatform.googleapis.com",
        "*-aiplatform.googleapis.com",
    )
    base_urls = (
        BaseUrl("gemini", "https://generativelanguage.googleapis.com", ("GOOGLE_GEMINI_BASE_URL",)),
        BaseUrl("vertex", "https://aiplatform.googleapis.com", ("GOOGLE_VERTEX_BASE_URL",)),
    )
    keys = (("GOOGLE_API_KEY", "GEMINI_API_KEY"),)  # with both of them Google's SDKs print a warning
    page = Page(
        "`POST …/models/{model}:generateContent`, `:streamGenerateContent`, `:embedContent`, "
        "`:batchEmbedContents`; elsewhere by a body with `contents` of `parts`",
        "`google`",
        "the same; server-sent events, or one JSON array",
        "all",
        "errors, an error chunk",
    )

    def recognise(self, request: Request) -> bool:
        """By path; elsewhere by a body with `contents` of `parts`."""
        if request.method != "POST":
            return False
        path = recognition.bare_path(request)
        if _method(path) in _METHODS:
            return True
        if path.endswith("/cachedContents"):  # a prefix is stored there, and no model asked
            return False
        if request.body is None or recognition.is_settled(path) or b'"contents"' not in request.body:
            return False
        contents = json_bytes.member(recognition.document(request.body), "contents")
        found = json_bytes.objects(contents)
        return bool(found) and all(isinstance(content.get("parts"), list) for _, content in found)

    def provider(self, request: Request) -> str:
        """By host; `google` for hosts that nobody is known to run."""
        return recognition.provider_of(request.host) or "google"

    def view(self, request: Request) -> RequestView:
        """With the model and the way of answering, which only the path tells."""
        bare = recognition.bare_path(request)
        found = self.request_view(request.body or b"")
        model = unquote(bare).rpartition("/models/")[2].partition(":")[0]
        return replace(found, model=model or found.model, stream=_method(bare) == _STREAMS)

    def splitter(self, request: Request, response: Response) -> framing.Splitter | None:
        """By content type; a stream that nobody asked for as SSE is one array of answers."""
        if _method(recognition.bare_path(request)) != _STREAMS or response.status >= 300:
            return super().splitter(request, response)
        if framing.content_type(response.headers) == framing.JSON:
            return _core.ArraySplitter()
        return super().splitter(request, response)

    def request_view(self, body: bytes) -> RequestView:
        """The conversation. Raises WireError without `contents` (or `content`, to be embedded)."""
        document = json_bytes.load_object(body)
        contents = document.get("contents")
        if not isinstance(contents, list):
            if "content" not in document and "requests" not in document:
                raise WireError("found no array `contents`, expected the conversation")
            return _embedded(document)
        model_turns = [at for at, content in json_bytes.objects(contents) if content.get("role") == "model"]
        last = model_turns[-1] if model_turns else -1
        chain = Chain()
        calls: dict[str, ToolCall] = {}
        turns = [_turn(at, c, chain, calls, new=at > last) for at, c in json_bytes.objects(contents)]
        return RequestView(
            model=json_bytes.string(document.get("model")),
            stream=False,
            system=gemini_stream.text_of(_either(document, "systemInstruction")),
            turns=tuple(turns),
            tools=_tools(document),
        )

    def response_view(self, status: int, body: bytes) -> ResponseView:
        """The first candidate; of an array of answers (a stream without `alt=sse`) their sum."""
        document = json_bytes.load(body)
        reader = gemini_stream.Reader()
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
        return gemini_stream.Reader()

    def is_terminal(self, event: bytes) -> bool:
        """A whole answer with a `finishReason`: the last event, there is no other mark."""
        found = SSE_OR_ELEMENTS.read(event)
        if found is None or b'"finishReason"' not in found[1]:
            return False
        return gemini_stream.finish_of(recognition.document(found[1]) or {}) is not None

    def replace_result(self, body: bytes, result: ToolResult, rewrite: Rewrite) -> bytes:
        """The `response` of one part, always an object: `{"error": …}` for errors, as the SDK writes it."""
        found = json_bytes.span(body, result.path)
        if found is None:
            raise WireError(f"found no result of call `{result.call_id}` at {list(result.path)}")
        return json_bytes.put(body, result.path, _rewritten(json_bytes.load(body[slice(*found)]), rewrite))

    def truncate(self, body: bytes, max_tokens: int) -> bytes:
        """`finishReason` `MAX_TOKENS`; a call that does not fit goes whole: its arguments are no text."""
        return gemini_stream.cut_body(body, max_tokens)

    def truncator(self, max_tokens: int) -> StreamEditor:
        """The same; the last event stays, with what it counts."""
        return gemini_stream.Truncator(max_tokens)


def _method(path: str) -> str:
    """The word behind the colon, where the path is one of a model of Google's."""
    last = path.rpartition("/")[2].replace("%3A", ":")
    model, colon, method = last.rpartition(":")
    known = colon and model and ("/models/" in path or "/tunedModels/" in path or "/endpoints/" in path)
    return method if known and "/publishers/anthropic/" not in path else ""


def _either(holder: json_bytes.Object, name: str) -> Any:
    """A member by its JSON name, or by the name in the proto, which REST takes, too."""
    snake = "".join(f"_{c.lower()}" if c.isupper() else c for c in name)
    return holder.get(name, holder.get(snake))


def _turn(
    at: int, content: json_bytes.Object, chain: Chain, calls: dict[str, ToolCall], *, new: bool
) -> Turn:
    place: Path = ("contents", at, "parts")
    made: list[ToolCall] = []
    results: list[ToolResult] = []
    for part, block in json_bytes.objects(content.get("parts")):
        call, answer = _either(block, "functionCall"), _either(block, "functionResponse")
        if isinstance(call, dict):
            name, arguments = (
                json_bytes.string(call.get("name")),
                json_bytes.dump(call.get("args") or {}).decode(),
            )
            invented = chain.call(name, arguments)
            made.append(ToolCall(json_bytes.string(call.get("id")) or invented, name, arguments))
            calls[made[-1].id] = made[-1]
        elif isinstance(answer, dict):
            key = "functionResponse" if "functionResponse" in block else "function_response"
            results.append(_result(answer, (*place, part, key, "response"), chain, calls, new=new))
    text = gemini_stream.text_of(content)
    chain.add(json_bytes.string(content.get("role")), text)
    role = "assistant" if content.get("role") == "model" else "user"
    return Turn("tool" if results and not text else role, text, tuple(made), tuple(results))


def _result(
    answer: json_bytes.Object, path: Path, chain: Chain, calls: dict[str, ToolCall], *, new: bool
) -> ToolResult:
    name = json_bytes.string(answer.get("name"))
    call_id = json_bytes.string(answer.get("id")) or chain.answer(name)
    call = calls.get(call_id)
    value = answer.get("response")
    key = _wrapper_key(value)
    value_ = json_bytes.member(value, key) if key else value
    text = value_ if isinstance(value_, str) else json_bytes.dump(value_).decode()
    chain.add(text)
    arguments = call.arguments if call else ""
    return ToolResult(call_id, name or None, arguments, text, key == "error", path, new)


def _wrapper_key(value: Any) -> str | None:
    """The one key under which SDKs put what a function returned."""
    if not isinstance(value, dict) or len(value) != 1:
        return None
    return next((key for key in ("result", "output", "error") if key in value), None)


def _rewritten(value: Any, rewrite: Rewrite) -> bytes:
    key = _wrapper_key(value)
    value_ = value[key] if key else None
    if rewrite.is_error:
        return json_bytes.dump({"error": json_bytes.whole(rewrite.text)})
    if key is None and isinstance(value, dict) and value:
        text = tool_content.like(json_bytes.dump(value).decode(), rewrite)
        parsed = json_bytes.load(text) if json_bytes.is_json(text) else None
        return json_bytes.dump(
            parsed if isinstance(parsed, dict) else {"result": json_bytes.whole(rewrite.text)}
        )
    name = key if key in ("result", "output") else "result"
    if isinstance(value_, dict | list):
        text = tool_content.like(json_bytes.dump(value_).decode(), rewrite)
        return json_bytes.dump(
            {name: json_bytes.load(text) if json_bytes.is_json(text) else json_bytes.whole(text)}
        )
    return json_bytes.dump({name: json_bytes.whole(rewrite.text)})


def _tools(document: json_bytes.Object) -> tuple[str, ...]:
    found: list[str] = []
    for _, tool in json_bytes.objects(document.get("tools")):
        declared = json_bytes.objects(_either(tool, "functionDeclarations"))
        found += [json_bytes.string(function.get("name")) for _, function in declared]
        found += [name for name in tool if name not in ("functionDeclarations", "function_declarations")]
    return tuple(name for name in found if name)


def _embedded(document: json_bytes.Object) -> RequestView:
    asked = [document, *(request for _, request in json_bytes.objects(document.get("requests")))]
    texts = [gemini_stream.text_of(one.get("content")) for one in asked]
    turns = tuple(Turn("user", text) for text in texts if text)
    return RequestView(json_bytes.string(document.get("model")), stream=False, turns=turns)
