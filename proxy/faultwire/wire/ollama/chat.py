"""Ollama's own API: chat, generate and embed, as NDJSON unless `stream` is false.

Shapes: Ollama's API reference, as its official SDKs send and parse it. Calls may lack an id: they are
paired with results by name and order.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from faultwire.errors import WireError
from faultwire.events import RequestView, ResponseView, ToolCall, ToolResult, Turn, Usage
from faultwire.wire import json_bytes
from faultwire.wire.editing import answers as http_answers, tool_content
from faultwire.wire.editing.ids import Chain
from faultwire.wire.editing.json_stream import LINES, Gatherer, JsonEditor
from faultwire.wire.editing.token_budget import Budget
from faultwire.wire.editing.truncate import KEPT_EMPTY, Part, cut_parts, put_count
from faultwire.wire.ollama.edits import OllamaEditor
from faultwire.wire.protocol import Protocol
from faultwire.wire.recognition import recognise as recognition
from faultwire.wire.recognition.confirm import Signs
from faultwire.wire.types import BaseUrl, Page

if TYPE_CHECKING:
    from faultwire.events import Request, Response
    from faultwire.wire.types import Rewrite, StreamEditor, StreamReader

_PATHS = ("/api/chat", "/api/generate", "/api/embed", "/api/embeddings")
_PORT = 11434


class Ollama(Protocol):
    """`POST …/api/chat`, `…/api/generate`, `…/api/embed`."""

    name = "ollama"
    signs = Signs(frozenset(("done", "embedding", "embeddings")))
    edits = OllamaEditor()
    hosts = (("ollama.com", "ollama"),)
    settled = ("/api/chat", "/api/generate", "/api/embed")
    by_body = settled
    request_ids = ()
    text_members = frozenset(("content", "response", "thinking"))
    dialect = "faultwire.mock.ollama:OllamaDialect"
    mocked = ("ollama.com",)
    base_urls = (
        BaseUrl(
            "ollama",
            "http://127.0.0.1:11434",
            ("OLLAMA_HOST", "OLLAMA_BASE_URL", "OLLAMA_API_BASE"),
            mocked="https://ollama.com",
        ),
    )
    page = Page(
        "`POST …/api/chat`, `/api/generate`, `/api/embed`, `/api/embeddings` on port 11434, "
        "or with `model` and a question",
        "`ollama`",
        "conversation, prompt or texts, calls, results, answer, usage; lines of JSON",
        "all",
        "errors, an error line",
    )

    def recognise(self, request: Request) -> bool:
        """By path and (port, host or body): many a web page has a path `/api/chat`."""
        path = recognition.bare_path(request)
        if request.method != "POST" or not path.endswith(_PATHS):
            return False
        if request.port == _PORT or recognition.provider_of(request.host) == "ollama":
            return True
        document = recognition.document(request.body)
        asks = ("messages", "prompt", "input")
        return (
            document is not None
            and isinstance(document.get("model"), str)
            and any(key in document for key in asks)
        )

    def provider(self, request: Request) -> str:
        """By host; `ollama` for hosts that nobody is known to run."""
        return recognition.provider_of(request.host) or "ollama"

    def view(self, request: Request) -> RequestView:
        """Embeddings never stream."""
        found = self.request_view(request.body or b"")
        if not recognition.bare_path(request).endswith(("/api/embed", "/api/embeddings")):
            return found
        return replace(found, stream=False)

    def request_view(self, body: bytes) -> RequestView:
        """The conversation, the prompt, or the texts to embed. Raises WireError without any of them."""
        document = json_bytes.load_object(body)
        streams, turns = document.get("stream") is not False, _conversation(document)
        if turns is None:
            asked = document.get("prompt", document.get("input"))
            if asked is None and not isinstance(document.get("model"), str):
                raise WireError("found no `messages`, `prompt` or `input`, expected a question")
            streams = streams and "input" not in document
            texts = asked if isinstance(asked, list) else [asked]
            turns = [Turn("user", text) for text in texts if isinstance(text, str)]
        system = [turn.text for turn in turns if turn.role == "system"]
        system += [text for text in [json_bytes.string(document.get("system"))] if text]
        names = (
            json_bytes.member(tool, "function", "name")
            for _, tool in json_bytes.objects(document.get("tools"))
        )
        return RequestView(
            model=json_bytes.string(document.get("model")),
            stream=streams,
            system="\n".join(system),
            turns=tuple(turn for turn in turns if turn.role != "system"),
            tools=tuple(name for name in names if isinstance(name, str)),
        )

    def response_view(self, status: int, body: bytes) -> ResponseView:
        """One object that says all."""
        reader = _Reader()
        reader.take("", json_bytes.load_object(body))
        if reader.error is None and status >= 400:
            return ResponseView(error=f"status {status}")
        reader.complete = True
        return reader.view()

    def reader(self) -> StreamReader:
        """Complete with `"done": true`."""
        return _Reader()

    def is_terminal(self, event: bytes) -> bool:
        """`"done": true`."""
        if b'"done"' not in event:
            return False
        return (recognition.document(event) or {}).get("done") is True

    def replace_result(self, body: bytes, result: ToolResult, rewrite: Rewrite) -> bytes:
        """The `content` of one `role: tool` message; the protocol has no flag for errors."""
        found = json_bytes.span(body, result.path)
        role = json_bytes.span(body, (*result.path[:-1], "role"))
        if found is None or role is None or body[slice(*role)] != b'"tool"':
            raise WireError(f"found no result of call `{result.call_id}` at {list(result.path)}")
        new = tool_content.rewritten(body[slice(*found)], rewrite, empty_block=True)
        return json_bytes.put(body, result.path, new)

    def truncate(self, body: bytes, max_tokens: int) -> bytes:
        """`done_reason` `length`; a call that does not fit goes whole."""
        budget = Budget(max_tokens)
        return _cut(body, json_bytes.load_object(body), budget)

    def truncator(self, max_tokens: int) -> StreamEditor:
        """The same, line by line."""
        return _Truncator(max_tokens)

    def error(
        self, status: int, *, message: str | None = None, retry_after_s: float | None = None
    ) -> Response:
        """`{"error": "…"}`, without any request id."""
        text = message or _TEXTS.get(status) or http_answers.reason(status).lower() or f"status {status}"
        headers = (
            () if retry_after_s is None else (("retry-after", http_answers.whole_seconds(retry_after_s)),)
        )
        body = json_bytes.dump({"error": json_bytes.whole(text)})
        return http_answers.answer(status, body, "application/json; charset=utf-8", *headers)


_TEXTS = {
    400: "invalid request",
    404: "model not found, try pulling it first",
    429: "too many requests",
    500: "llama runner process has terminated",
    503: "server busy, please try again.  maximum pending requests exceeded",
}


def _conversation(document: json_bytes.Object) -> list[Turn] | None:
    messages = document.get("messages")
    if not isinstance(messages, list):
        return None
    last = max((at for at, m in json_bytes.objects(messages) if m.get("role") == "assistant"), default=-1)
    chain, calls = Chain(), dict[str, ToolCall]()
    return [_turn(at, message, chain, calls, new=at > last) for at, message in json_bytes.objects(messages)]


def _turn(
    at: int, message: json_bytes.Object, chain: Chain, calls: dict[str, ToolCall], *, new: bool
) -> Turn:
    role, text = json_bytes.string(message.get("role")), tool_content.text_of(message.get("content"))
    if role != "tool":
        made = []
        for call in _calls(message):
            invented = chain.call(call.name, call.arguments)
            made.append(call if call.id else ToolCall(invented, call.name, call.arguments))
            calls[made[-1].id] = made[-1]
        chain.add(role, text)
        return Turn(role, text, tuple(made))
    tool_name = json_bytes.string(message.get("tool_name")) or json_bytes.string(message.get("name"))
    call_id = json_bytes.string(message.get("tool_call_id")) or chain.answer(tool_name)
    chain.add(role, text)
    found = calls.get(call_id)
    name = tool_name or (found.name if found else "")
    arguments = found.arguments if found else ""
    result = ToolResult(call_id, name or None, arguments, text, False, ("messages", at, "content"), new)
    return Turn(role, text, (), (result,))


def _calls(message: json_bytes.Object) -> list[ToolCall]:
    found = []
    for _, call in json_bytes.objects(message.get("tool_calls")):
        arguments = json_bytes.member(call, "function", "arguments")
        text = arguments if isinstance(arguments, str) else json_bytes.dump(arguments or {}).decode()
        name = json_bytes.string(json_bytes.member(call, "function", "name"))
        found.append(ToolCall(json_bytes.string(call.get("id")), name, text))
    return found


class _Reader(Gatherer):
    framed = LINES

    def take(self, name: str, document: json_bytes.Object) -> None:
        """Take one line."""
        error = document.get("error")
        if error is not None:
            self.error = (
                self.error
                or json_bytes.string(error)
                or json_bytes.string(json_bytes.member(error, "message"))
            )
            self.error = self.error or "error"
        self.model = json_bytes.string(document.get("model")) or self.model
        message = document.get("message")
        if isinstance(message, dict):
            self.text.append(json_bytes.string(message.get("content")))
            for call in _calls(message):
                self.calls[len(self.calls)] = (call.id, call.name, [call.arguments])
        self.text.append(json_bytes.string(document.get("response")))
        if "prompt_eval_count" in document:  # without it, how much was read is not known
            counts = (json_bytes.count(document.get(key)) for key in ("prompt_eval_count", "eval_count"))
            self.usage = Usage(*counts)
        if document.get("done") is True:
            self.finish, self.complete = json_bytes.string(document.get("done_reason")) or None, True


def _cut(body: bytes, document: json_bytes.Object, budget: Budget) -> bytes:
    parts = []
    message = document.get("message")
    if isinstance(message, dict):
        text = message.get("content")
        if isinstance(text, str) and text:
            parts.append(Part(("text",), text, ("message", "content"), KEPT_EMPTY))
        for at, call in enumerate(_calls(message)):
            parts.append(Part(("message", "tool_calls", at), call.name + call.arguments))
    text = document.get("response")
    if isinstance(text, str) and text:
        parts.append(Part(("text",), text, ("response",), KEPT_EMPTY))
    body = cut_parts(body, parts, budget)
    if not budget.spent or document.get("done") is not True:
        return body
    body = json_bytes.put(body, ("done_reason",), b'"length"')
    return put_count(body, ("eval_count",), document.get("eval_count"), budget.max_tokens)


class _Truncator(JsonEditor):
    framed = LINES

    def __init__(self, max_tokens: int) -> None:
        self._budget = Budget(max_tokens)

    def edit(self, name: str, data: bytes, document: json_bytes.Object) -> bytes:
        """One line; one that says nothing any more goes, the last one stays."""
        cut = _cut(data, document, self._budget)
        if cut == data or document.get("done") is True:
            return cut
        reader = _Reader()
        reader.take("", json_bytes.load_object(cut))
        left = reader.view()
        return cut if left.text or left.tool_calls else b""
