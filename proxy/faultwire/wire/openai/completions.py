"""Legacy completions: a text is continued, without messages, tools or roles.

Shapes: OpenAI's API reference (`/v1/completions`), which vLLM, llama.cpp and gateways imitate.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from faultwire.errors import WireError
from faultwire.events import RequestView, ResponseView, Turn, Usage
from faultwire.wire import json_bytes
from faultwire.wire.editing.json_stream import Gatherer
from faultwire.wire.framing import sse
from faultwire.wire.openai import (
    chat_stream as openai_chat_stream,
    completions_edits as openai_completions_edits,
    errors as openai_errors,
)
from faultwire.wire.protocol import Protocol
from faultwire.wire.recognition import recognise as recognition
from faultwire.wire.recognition.confirm import Signs
from faultwire.wire.types import Page

if TYPE_CHECKING:
    from faultwire.events import Request, ToolResult
    from faultwire.wire.types import Rewrite, StreamEditor, StreamReader


class Completions(Protocol):
    """`POST …/completions` that is not `…/chat/completions`."""

    name = "completions"
    signs = Signs(frozenset(("choices", "content")), ("text_completion",))
    edits = openai_completions_edits.CompletionsEditor()
    settled = ("/completions",)
    by_body = ("/completions",)
    text_members = frozenset(("text",))
    errors = staticmethod(openai_errors.error)
    errors_by = openai_errors.BY_PROVIDER
    request_ids = openai_errors.REQUEST_IDS
    dialect = "faultwire.mock.completions:CompletionsDialect"
    page = Page(
        "`POST …/completions` that is neither `…/chat/completions` nor `…/fim/completions`, with a `prompt`",
        "`openai`",
        "prompts as turns, the first choice, usage; server-sent events",
        "prompts, answer, length",
        "errors by provider, an error event",
    )

    def recognise(self, request: Request) -> bool:
        """By path, and by a body with a `prompt` where it is there."""
        path = recognition.bare_path(request)
        if request.method != "POST" or not path.endswith("/completions"):
            return False
        if path.endswith(("/chat/completions", "/fim/completions")):
            return False
        if request.body is None:
            return recognition.provider_of(request.host) is not None or path.endswith("/v1/completions")
        return "prompt" in (recognition.document(request.body) or {})

    def provider(self, request: Request) -> str:
        """By host; `openai` for hosts that nobody is known to run."""
        return recognition.provider_of(request.host) or "openai"

    def request_view(self, body: bytes) -> RequestView:
        """The prompts, each as a user's turn; tokens are no text. Raises WireError without `prompt`."""
        document = json_bytes.load_object(body)
        if "prompt" not in document:
            raise WireError("found no `prompt`, expected a text to continue")
        return RequestView(
            model=json_bytes.string(document.get("model")),
            stream=document.get("stream") is True,
            turns=tuple(Turn("user", text) for text in _prompts(document.get("prompt"))),
        )

    def response_view(self, status: int, body: bytes) -> ResponseView:
        """The first choice; `error` where the answer is one, whatever its status."""
        document = json_bytes.load_object(body)
        reader = _Reader()
        reader.take("", document)
        found = reader.view()
        error = found.error or (f"status {status}" if status >= 400 else None)
        return ResponseView(
            found.model, found.text, found.finish_reason, (), found.usage, error, complete=True
        )

    def reader(self) -> StreamReader:
        """Complete with `data: [DONE]`."""
        return _Reader()

    def is_terminal(self, event: bytes) -> bool:
        """`data: [DONE]`, matched by prefix as the SDKs do."""
        fields = sse.fields(event)
        return fields is not None and openai_chat_stream.is_done(fields.data)

    def replace_result(self, body: bytes, result: ToolResult, rewrite: Rewrite) -> bytes:
        """There are no tools. Raises WireError."""
        raise WireError("found a tool result where the protocol has none")

    def truncate(self, body: bytes, max_tokens: int) -> bytes:
        """Every choice cut, `finish_reason` `length`."""
        return openai_completions_edits.cut(body, {}, max_tokens)

    def truncator(self, max_tokens: int) -> StreamEditor:
        """The same for a stream; what closes it stays."""
        return openai_completions_edits.Truncator(max_tokens)


class _Reader(Gatherer):
    """Gathers the first choice."""

    def feed(self, event: bytes) -> None:
        """Take one event with its framing bytes."""
        fields = sse.fields(event)
        if fields is not None and openai_chat_stream.is_done(fields.data):
            self.complete = True
        else:
            super().feed(event)

    def view(self) -> ResponseView:
        """The answer so far; complete with its finish reason, as some imitators leave `[DONE]` out."""
        self.complete = self.complete or self.finish is not None
        return super().view()

    def take(self, name: str, document: json_bytes.Object) -> None:
        """Take what one event, or a whole answer, says."""
        self.model = self.model or json_bytes.string(document.get("model"))
        self.error = self.error or openai_chat_stream.error_text(document)
        usage = document.get("usage")
        if isinstance(usage, dict):
            counts = (json_bytes.count(usage.get(key)) for key in ("prompt_tokens", "completion_tokens"))
            self.usage = Usage(*counts)
        for _, choice in json_bytes.objects(document.get("choices")):
            if choice.get("index", 0) == 0:
                self.text.append(json_bytes.string(choice.get("text")))
                self.finish = json_bytes.string(choice.get("finish_reason")) or self.finish


def _prompts(prompt: Any) -> list[str]:
    if isinstance(prompt, list):
        return [text for text in prompt if isinstance(text, str)]
    return [prompt] if isinstance(prompt, str) else []
