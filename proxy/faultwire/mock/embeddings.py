"""Embeddings, answered: the vector is made from the text's digest."""

from __future__ import annotations

import base64
import math
import struct
from typing import TYPE_CHECKING

import orjson

from faultwire import _core, wire
from faultwire.events import header
from faultwire.mock import _shared
from faultwire.mock._api import Conversation
from faultwire.mock._openai_headers import OpenAIFamily
from faultwire.mock._shared import refuse

if TYPE_CHECKING:
    from faultwire.events import Request
    from faultwire.mock._api import Reply
    from faultwire.wire.protocol import Protocol

_BASE64 = "base64"
_SIZES = {"text-embedding-3-large": 3072}
_MOST = 4096


def vector(text: str, size: int) -> list[float]:
    """A vector of length 1, always the same for the same text."""
    found: list[float] = []
    block = 0
    while len(found) < size:
        digest = bytes.fromhex(_core.sha256_hex(f"{block}\0{text}".encode("utf-8", "replace")))
        found += [number / 32768 for number in struct.unpack(">16h", digest)]
        block += 1
    found = found[:size]
    length = math.sqrt(sum(number * number for number in found)) or 1.0
    return [round(number / length, 8) for number in found]


class EmbeddingsDialect(OpenAIFamily):
    """`POST …/embeddings`."""

    protocol = "embeddings"
    path = "/embeddings"
    base = "/v1"
    provider = "OpenAI embeddings"

    def answers(self, request: Request) -> bool:
        """Not Ollama's `/api/embeddings`."""
        return super().answers(request) and not request.path.partition("?")[0].endswith("/api/embeddings")

    def check_key(self, request: Request) -> None:
        """`Authorization: Bearer`, or Azure's `api-key`."""
        if not (_shared.bearer(request) or header(request.headers, "api-key")):
            raise refuse(self._wire, "You didn't provide an API key.", 401)

    def read(self, body: bytes) -> Conversation:
        """The texts as turns; the size and the way of writing are options."""
        document = _shared.document(self._wire, body)
        if not isinstance(document.get("model"), str) or not document["model"]:
            raise refuse(self._wire, "you must provide a model parameter")
        asked = document.get("input")
        if asked is None or asked in ("", []):
            raise refuse(self._wire, "'$.input' is invalid.")
        if isinstance(asked, list) and isinstance(asked[0], int):
            asked = [asked]
        texts = (
            [text if isinstance(text, str) else str(text) for text in asked]
            if isinstance(asked, list)
            else [asked]
        )
        size = _shared.positive(document.get("dimensions")) or _SIZES.get(document["model"], 1536)
        normalised = {**document, "input": texts}
        packed = {_BASE64} if document.get("encoding_format") == "base64" else set[str]()
        return Conversation(
            digest=_shared.digest(self.protocol, document),
            view=self._wire.request_view(orjson.dumps(normalised)),
            max_tokens=min(size, _MOST),
            options=frozenset(packed),
        )

    def whole(self, conversation: Conversation, reply: Reply) -> bytes:
        """A list of vectors; what the model would say is not asked."""
        size = conversation.max_tokens or 1536
        vectors = [vector(turn.text, size) for turn in conversation.view.turns]
        packs = _BASE64 in conversation.options
        data = [
            {"object": "embedding", "index": at, "embedding": _packed(found) if packs else found}
            for at, found in enumerate(vectors)
        ]
        read = _shared.read_tokens(conversation.view)
        usage = {"prompt_tokens": read, "total_tokens": read}
        return orjson.dumps(
            {"object": "list", "data": data, "model": conversation.view.model, "usage": usage}
        )

    def events(self, conversation: Conversation, reply: Reply) -> tuple[bytes, ...]:
        """Embeddings do not stream."""
        return ()

    @property
    def _wire(self) -> Protocol:
        return wire.protocol(self.protocol)


def _packed(found: list[float]) -> str:
    """Little-endian single precision, as the API packs it."""
    return base64.b64encode(struct.pack(f"<{len(found)}f", *found)).decode()
