"""OpenAI's legacy completions, answered."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import orjson

from faultwire import wire
from faultwire.events import header
from faultwire.mock import _shared
from faultwire.mock._api import Conversation
from faultwire.mock._openai_headers import OpenAIFamily
from faultwire.mock._shared import CREATED, refuse
from faultwire.wire.framing import sse

if TYPE_CHECKING:
    from faultwire.events import Request
    from faultwire.mock._api import Reply
    from faultwire.wire.protocol import Protocol

_COUNT, _ECHO = "count", "echo"


class CompletionsDialect(OpenAIFamily):
    """`POST …/completions`: one choice, whatever `n` says."""

    protocol = "completions"
    path = "/v1/completions"
    base = "/v1"
    provider = "OpenAI completions (legacy)"

    def answers(self, request: Request) -> bool:
        """By path, whatever the body is."""
        path = request.path.partition("?")[0].rstrip("/")
        return path.endswith("/completions") and not path.endswith(("/chat/completions", "/fim/completions"))

    def check_key(self, request: Request) -> None:
        """`Authorization: Bearer`, or Azure's `api-key`."""
        if not (_shared.bearer(request) or header(request.headers, "api-key")):
            raise refuse(self._wire, "You didn't provide an API key.", 401)

    def read(self, body: bytes) -> Conversation:
        """The prompts."""
        document = _shared.document(self._wire, body)
        if not isinstance(document.get("model"), str) or not document["model"]:
            raise refuse(self._wire, "you must provide a model parameter")
        if "prompt" not in document:
            raise refuse(self._wire, "Missing required parameter: 'prompt'.")
        options = document.get("stream_options")
        counts = isinstance(options, dict) and options.get("include_usage") is True
        known = {_COUNT: counts, _ECHO: document.get("echo") is True}
        return Conversation(
            digest=_shared.digest(self.protocol, document),
            view=self._wire.request_view(body),
            max_tokens=_shared.positive(document.get("max_tokens")),
            options=frozenset(word for word, given in known.items() if given),
        )

    def whole(self, conversation: Conversation, reply: Reply) -> bytes:
        """One `text_completion`."""
        text, used, cut = _shared.limited_text(conversation, reply)
        choice = _choice(_echo(conversation) + text, "length" if cut else "stop")
        return orjson.dumps(_completion(conversation, [choice], usage=_usage(conversation, used)))

    def events(self, conversation: Conversation, reply: Reply) -> tuple[bytes, ...]:
        """A piece of the text in each, then why it stopped, then `[DONE]`."""
        text, used, cut = _shared.limited_text(conversation, reply)
        pieces = _shared.words(_echo(conversation) + text)
        chunks = [_completion(conversation, [_choice(piece, None)]) for piece in pieces]
        chunks.append(_completion(conversation, [_choice("", "length" if cut else "stop")]))
        if _COUNT in conversation.options:
            chunks.append(_completion(conversation, [], usage=_usage(conversation, used)))
        return (*(sse.write(orjson.dumps(event)) for event in chunks), sse.write(b"[DONE]"))

    @property
    def _wire(self) -> Protocol:
        return wire.protocol(self.protocol)


def _echo(conversation: Conversation) -> str:
    texts = (turn.text for turn in conversation.view.turns)
    return "".join(texts) if _ECHO in conversation.options else ""


def _choice(text: str, finish: str | None) -> dict[str, Any]:
    return {"text": text, "index": 0, "logprobs": None, "finish_reason": finish}


def _completion(conversation: Conversation, choices: list[dict[str, Any]], **more: Any) -> dict[str, Any]:
    return {
        "id": _shared.made_id("cmpl-", conversation),
        "object": "text_completion",
        "created": CREATED,
        "model": conversation.view.model,
        "choices": choices,
        **more,
    }


def _usage(conversation: Conversation, used: int) -> dict[str, int]:
    read = _shared.read_tokens(conversation.view)
    return {"prompt_tokens": read, "completion_tokens": used, "total_tokens": read + used}
