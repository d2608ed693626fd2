"""Changes of Bedrock's requests, and its named failures."""

from __future__ import annotations

from typing import TYPE_CHECKING

from faultwire import _core
from faultwire.wire import json_bytes
from faultwire.wire.anthropic.edits import AnthropicEditor
from faultwire.wire.bedrock import errors as bedrock_errors, stream_edits as bedrock_stream_edits
from faultwire.wire.editing.requests import ALL, RequestEditor, Texts, last_answer, role_of

if TYPE_CHECKING:
    from faultwire.events import Path, Response
    from faultwire.wire.editing.api import Ability, Change, Failure, TextPlace
    from faultwire.wire.editing.requests import Broken
    from faultwire.wire.types import StreamEditor


class BedrockEditor(RequestEditor):
    """Bedrock's Converse. What a guardrail stops is no error there."""

    abilities: frozenset[Ability] = ALL

    def change(self, body: bytes, change: Change) -> bytes:
        """A whole answer, changed."""
        return bedrock_stream_edits.changed(body, change)

    def stream_editor(self, change: Change) -> StreamEditor:
        """What is to change is held until the answer stops."""
        return bedrock_stream_edits.BedrockStreamEditor(change)

    def gathered(self, document: json_bytes.Object) -> Texts:
        """System prompt, messages, and what tools returned."""
        messages = json_bytes.objects(document.get("messages"))
        texts = Texts(last_answer(messages))
        texts.blocks("system", document.get("system"), ("system",), -1)
        for at, message in messages:
            place: Path = ("messages", at, "content")
            texts.blocks(role_of(message.get("role")), message.get("content"), place, at)
            for part, block in json_bytes.objects(message.get("content")):
                inside = json_bytes.member(block, "toolResult", "content")
                texts.blocks("tool", inside, (*place, part, "toolResult", "content"), at)
        return texts

    def failure(self, what: Failure, *, message: str | None = None) -> Response | None:
        """Told apart by the kind of exception."""
        return _bedrock_failure(what, message)

    def error_event(self, what: Broken, message: str | None) -> bytes:
        """A frame that is an exception."""
        return _exception(what, message)


_BEDROCK: dict[Failure, tuple[int, str, str]] = {
    "overloaded": (503, "ServiceUnavailableException", "Bedrock is unable to process your request."),
    "quota_exceeded": (
        429,
        "ThrottlingException",
        "Too many tokens per day, please wait before trying again.",
    ),
    "context_length": (400, "ValidationException", "Input is too long for requested model."),
}


def _bedrock_failure(what: Failure, message: str | None) -> Response | None:
    known = _BEDROCK.get(what)
    return bedrock_errors.error_response(known[0], known[1], message or known[2]) if known else None


def _exception(what: Broken, message: str | None) -> bytes:
    kind, usual = {
        "overloaded": ("serviceUnavailableException", "Bedrock is unable to process your request."),
        "server_error": ("internalServerException", "The system encountered an unexpected error."),
    }[what]
    headers = [
        (":exception-type", kind),
        (":content-type", "application/json"),
        (":message-type", "exception"),
    ]
    return _core.eventstream_write(headers, json_bytes.dump({"message": message or usual}))


class BedrockInvokeEditor(RequestEditor):
    """Anthropic's messages, AWS's failures."""

    def __init__(self) -> None:
        self._inner = AnthropicEditor()

    def texts(self, body: bytes) -> tuple[TextPlace, ...]:
        """As Anthropic's."""
        return self._inner.texts(body)

    def gathered(self, document: json_bytes.Object) -> Texts:
        """As Anthropic's."""
        texts = Texts(-1)
        texts.found = list(self._inner.texts(json_bytes.dump(document)))
        return texts

    def failure(self, what: Failure, *, message: str | None = None) -> Response | None:
        """Bedrock's own."""
        return _bedrock_failure(what, message)

    def error_event(self, what: Broken, message: str | None) -> bytes:
        """A frame that is an exception."""
        return _exception(what, message)
