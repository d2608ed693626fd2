"""OpenAI's embeddings, and every server that imitates them.

Shapes: OpenAI's API reference, as the official SDKs send and parse it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from faultwire.errors import WireError
from faultwire.events import RequestView, ResponseView, Turn, Usage
from faultwire.wire import _json, _openai_errors, _openai_stream, _recognise
from faultwire.wire._api import Protocol, StreamEditor
from faultwire.wire._confirm import Signs
from faultwire.wire._gather import Gatherer
from faultwire.wire._provider_edits import EmbeddingsEdits

if TYPE_CHECKING:
    from collections.abc import Iterable

    from faultwire.events import Request, ToolResult
    from faultwire.wire._api import Rewrite, StreamReader


class Embeddings(Protocol):
    """`POST …/embeddings`. Nothing here is a conversation: the texts to embed are shown as turns."""

    name = "embeddings"
    signs = Signs(frozenset(("data", "embedding", "embeddings")))
    edits = EmbeddingsEdits()
    settled = ("/embeddings",)
    errors = staticmethod(_openai_errors.error)
    errors_by = _openai_errors.BY_PROVIDER
    request_ids = _openai_errors.REQUEST_IDS

    def recognise(self, request: Request) -> bool:
        """By path and (host or body)."""
        path = _recognise.bare_path(request)
        if request.method != "POST" or not path.endswith("/embeddings") or path.endswith("/api/embeddings"):
            return False
        if path.endswith("/v1/embeddings") or _recognise.provider_of(request.host) is not None:
            return True
        document = _recognise.document(request.body)
        return document is not None and "input" in document and isinstance(document.get("model"), str)

    def provider(self, request: Request) -> str:
        """By host; `openai` for hosts that nobody is known to run."""
        return _recognise.provider_of(request.host) or "openai"

    def request_view(self, body: bytes) -> RequestView:
        """The texts, where they are no tokens already. Raises WireError without `input`."""
        document = _json.load_object(body)
        asked = document.get("input")
        if asked is None:
            raise WireError("found no `input`, expected texts to embed")
        texts = asked if isinstance(asked, list) else [asked]
        turns = tuple(Turn("user", text) for text in texts if isinstance(text, str))
        return RequestView(_json.string(document.get("model")), stream=False, turns=turns)

    def response_view(self, status: int, body: bytes) -> ResponseView:
        """Model and usage; the vectors say nothing."""
        document = _json.load_object(body)
        error = _openai_stream.error_text(document)
        if error is None and status >= 400:
            error = _json.string(document.get("message")) or f"status {status}"
        usage = document.get("usage")
        read = _json.count(_json.member(usage, "prompt_tokens"))
        counted = Usage(read, 0) if isinstance(usage, dict) else None
        return ResponseView(_json.string(document.get("model")), usage=counted, error=error)

    def reader(self) -> StreamReader:
        """Embeddings do not stream."""
        return _Nothing()

    def is_terminal(self, event: bytes) -> bool:
        """Embeddings do not stream."""
        return False

    def replace_result(self, body: bytes, result: ToolResult, rewrite: Rewrite) -> bytes:
        """There are no tools here."""
        raise WireError("found a request for embeddings, expected a conversation")

    def truncate(self, body: bytes, max_tokens: int) -> bytes:
        """There is no text here."""
        return body

    def truncator(self, max_tokens: int) -> StreamEditor:
        """There is no text here."""
        return _Same()


class _Nothing(Gatherer):
    def take(self, name: str, document: _json.Object) -> None:
        self.error = self.error or _openai_stream.error_text(document)


class _Same(StreamEditor):
    def feed(self, event: bytes) -> Iterable[bytes]:
        return (event,)
