"""OpenAI's embeddings, and every server that imitates them.

Shapes: OpenAI's API reference, as the official SDKs send and parse it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from faultwire.errors import WireError
from faultwire.events import RequestView, ResponseView, Turn, Usage
from faultwire.wire import json_bytes
from faultwire.wire.editing.api import Editor
from faultwire.wire.editing.json_stream import Gatherer
from faultwire.wire.openai import chat_stream as openai_chat_stream, errors as openai_errors
from faultwire.wire.openai.chat_edits import OpenAIEditor
from faultwire.wire.protocol import Protocol
from faultwire.wire.recognition import recognise as recognition
from faultwire.wire.recognition.confirm import Signs
from faultwire.wire.types import Page, StreamEditor

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from faultwire.events import Headers, Request, Response, ToolResult
    from faultwire.wire.editing.api import Ability, Failure, Quota
    from faultwire.wire.types import Errors, Rewrite, StreamReader


class EmbeddingsEditor(Editor):
    """OpenAI's failures; the texts are no conversation."""

    abilities: frozenset[Ability] = frozenset(("failure",))

    def __init__(self) -> None:
        self._chat = OpenAIEditor()

    def failure(self, what: Failure, *, message: str | None = None) -> Response:
        """OpenAI's errors are the same for all its endpoints."""
        return self._chat.failure(what, message=message)

    def quota(self, quota: Quota) -> Headers:
        """As for chat completions."""
        return self._chat.quota(quota)

    def quota_by(self, provider: str | None, quota: Quota) -> Headers:
        """As for chat completions."""
        return self._chat.quota_by(provider, quota)


class Embeddings(Protocol):
    """`POST …/embeddings`. Nothing here is a conversation: the texts to embed are shown as turns."""

    name = "embeddings"
    signs = Signs(frozenset(("data", "embedding", "embeddings")))
    edits: ClassVar[Editor] = EmbeddingsEditor()
    settled: ClassVar[tuple[str, ...]] = ("/embeddings",)
    errors = staticmethod(openai_errors.error)
    errors_by: ClassVar[Mapping[str, Errors]] = openai_errors.BY_PROVIDER
    request_ids: ClassVar[tuple[str, ...]] = openai_errors.REQUEST_IDS
    dialect: ClassVar[str | None] = "faultwire.mock.embeddings:EmbeddingsDialect"
    page = Page(
        "`POST …/v1/embeddings`, or `…/embeddings` on a known host or with `model` and `input`",
        "`openai`",
        "texts as turns, usage",
        "nothing",
        "errors by provider",
    )

    def recognise(self, request: Request) -> bool:
        """By path and (host or body)."""
        path = recognition.bare_path(request)
        if request.method != "POST" or not path.endswith("/embeddings") or path.endswith("/api/embeddings"):
            return False
        if path.endswith("/v1/embeddings") or recognition.provider_of(request.host) is not None:
            return True
        document = recognition.document(request.body)
        return document is not None and "input" in document and isinstance(document.get("model"), str)

    def provider(self, request: Request) -> str:
        """By host; `openai` for hosts that nobody is known to run."""
        return recognition.provider_of(request.host) or "openai"

    def request_view(self, body: bytes) -> RequestView:
        """The texts, where they are no tokens already. Raises WireError without `input`."""
        document = json_bytes.load_object(body)
        asked = document.get("input")
        if asked is None:
            raise WireError("found no `input`, expected texts to embed")
        texts = asked if isinstance(asked, list) else [asked]
        turns = tuple(Turn("user", text) for text in texts if isinstance(text, str))
        return RequestView(json_bytes.string(document.get("model")), stream=False, turns=turns)

    def response_view(self, status: int, body: bytes) -> ResponseView:
        """Model and usage; the vectors say nothing."""
        document = json_bytes.load_object(body)
        error = openai_chat_stream.error_text(document)
        if error is None and status >= 400:
            error = json_bytes.string(document.get("message")) or f"status {status}"
        usage = document.get("usage")
        # Voyage and Jina count `total_tokens` alone.
        read = next(
            (
                n
                for key in ("prompt_tokens", "total_tokens")
                if isinstance(n := json_bytes.member(usage, key), int)
            ),
            None,
        )
        counted = None if read is None else Usage(json_bytes.count(read), 0)
        return ResponseView(json_bytes.string(document.get("model")), usage=counted, error=error)

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
    def take(self, name: str, document: json_bytes.Object) -> None:
        self.error = self.error or openai_chat_stream.error_text(document)


class _Same(StreamEditor):
    def feed(self, event: bytes) -> Iterable[bytes]:
        return (event,)
