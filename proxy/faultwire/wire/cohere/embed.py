"""Cohere's embeddings, versions 1 and 2.

Shapes: Cohere's API reference, as its official SDK sends and parses it. What is embedded is `texts`, or
`inputs` of parts in version 2; the tokens that are billed stand in `meta.billed_units`, and images are billed
by their number.
"""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING

from faultwire.errors import WireError
from faultwire.events import RequestView, ResponseView, Turn
from faultwire.wire import json_bytes
from faultwire.wire.cohere.chat import Cohere
from faultwire.wire.cohere.edits import CohereEditor
from faultwire.wire.cohere.stream import usage_of
from faultwire.wire.editing import tool_content
from faultwire.wire.editing.api import Editor
from faultwire.wire.openai.embeddings import Embeddings
from faultwire.wire.recognition import recognise as recognition
from faultwire.wire.recognition.confirm import Signs
from faultwire.wire.types import Page

if TYPE_CHECKING:
    from faultwire.events import Headers, Request, Response
    from faultwire.wire.editing.api import Ability, Failure, Quota

_PATHS = ("/v1/embed", "/v2/embed")
_ASKS = ("texts", "inputs", "images")


class _Editor(Editor):
    """Cohere's failures; the texts are no conversation."""

    abilities: frozenset[Ability] = frozenset(("failure",))

    def __init__(self) -> None:
        self._chat = CohereEditor()

    def failure(self, what: Failure, *, message: str | None = None) -> Response:
        """Cohere's errors are the same for all its endpoints."""
        return self._chat.failure(what, message=message)

    def quota(self, quota: Quota) -> Headers:
        """As for chat."""
        return self._chat.quota(quota)


class CohereEmbed(Embeddings):
    """`POST …/v1/embed`, `…/v2/embed`."""

    name = "cohere_embed"
    signs = Signs(frozenset(("embeddings",)))
    edits = _Editor()
    settled = _PATHS
    by_body = _PATHS
    errors_by = MappingProxyType({})
    request_ids = Cohere.request_ids
    dialect = None
    page = Page(
        "`POST …/v1/embed`, `…/v2/embed` on Cohere's hosts, or with `model` and `texts`, `inputs` or "
        "`images`",
        "`cohere`",
        "texts as turns, usage",
        "nothing",
        "errors",
        "no",
    )

    def recognise(self, request: Request) -> bool:
        """By path and (host or body)."""
        if request.method != "POST" or not recognition.bare_path(request).endswith(_PATHS):
            return False
        if recognition.provider_of(request.host) == "cohere":
            return True
        document = recognition.document(request.body)
        return (
            document is not None
            and isinstance(document.get("model"), str)
            and any(isinstance(document.get(key), list) for key in _ASKS)
        )

    def provider(self, request: Request) -> str:
        """By host; `cohere` for hosts that nobody is known to run."""
        return recognition.provider_of(request.host) or "cohere"

    def request_view(self, body: bytes) -> RequestView:
        """The texts. Raises WireError where nothing is to be embedded."""
        document = json_bytes.load_object(body)
        if not any(isinstance(document.get(key), list) for key in _ASKS):
            raise WireError("found no `texts`, `inputs` or `images`, expected something to embed")
        plain = document.get("texts")
        texts = [text for text in (plain if isinstance(plain, list) else ()) if isinstance(text, str)]
        texts += [
            tool_content.text_of(one.get("content")) for _, one in json_bytes.objects(document.get("inputs"))
        ]
        turns = tuple(Turn("user", text) for text in texts if text)
        return RequestView(json_bytes.string(document.get("model")), stream=False, turns=turns)

    def response_view(self, status: int, body: bytes) -> ResponseView:
        """Usage alone; the answer names no model."""
        document = json_bytes.load_object(body)
        if status >= 400 or "embeddings" not in document:
            return ResponseView(error=json_bytes.string(document.get("message")) or f"status {status}")
        meta = document.get("meta")
        # Of a sum of tokens and images only the first has a price per token.
        images = json_bytes.count(json_bytes.member(meta, "billed_units", "images"))
        return ResponseView(usage=None if images else usage_of(meta))

    def error(
        self, status: int, *, message: str | None = None, retry_after_s: float | None = None
    ) -> Response:
        """As for chat."""
        return Cohere().error(status, message=message, retry_after_s=retry_after_s)
