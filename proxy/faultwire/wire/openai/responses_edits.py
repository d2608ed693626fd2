"""Changes of Responses' answers as a whole, and of its requests."""

from __future__ import annotations

from typing import TYPE_CHECKING

from faultwire.wire import json_bytes
from faultwire.wire.editing.blocks import decided
from faultwire.wire.editing.requests import ALL, RequestEditor, Texts, last_answer, role_of
from faultwire.wire.framing import sse
from faultwire.wire.openai.chat_edits import OpenAIEditor
from faultwire.wire.openai.responses_stream_edits import ITEMS, ResponsesStreamEditor, closed, text_of_item

if TYPE_CHECKING:
    from faultwire.events import Headers, Response
    from faultwire.wire.editing.api import Ability, Change, Failure, Quota
    from faultwire.wire.editing.requests import Broken
    from faultwire.wire.types import StreamEditor


def changed(body: bytes, change: Change) -> bytes:
    """A whole answer, changed."""
    document = json_bytes.load_object(body)
    output = document.get("output")
    new = None
    if isinstance(output, list):
        text = "".join(text_of_item(item) for _, item in json_bytes.objects(output))
        new = decided(change, text, ITEMS.calls(output))
    return closed(body, document, change, new)


class ResponsesEditor(RequestEditor):
    """OpenAI Responses."""

    abilities: frozenset[Ability] = ALL
    of_tokens = staticmethod(OpenAIEditor.of_tokens)

    def __init__(self) -> None:
        self._chat = OpenAIEditor()

    def change(self, body: bytes, change: Change) -> bytes:
        """A whole answer, changed."""
        return changed(body, change)

    def stream_editor(self, change: Change) -> StreamEditor | None:
        """What is to change is held until the answer stops."""
        return ResponsesStreamEditor(change)

    def gathered(self, document: json_bytes.Object) -> Texts:
        """Instructions, messages, and what tools returned."""
        items = json_bytes.objects(document.get("input"))
        calls = [at for at, item in items if json_bytes.string(item.get("type")).endswith("_call")]
        texts = Texts(max([last_answer(items), *calls]))
        texts.add("system", document.get("instructions"), ("instructions",), -1)
        texts.add("user", document.get("input"), ("input",), 0)
        for at, item in items:
            if json_bytes.string(item.get("type")).endswith("_output"):
                texts.blocks("tool", item.get("output"), ("input", at, "output"), at)
            else:
                texts.blocks(role_of(item.get("role")), item.get("content"), ("input", at, "content"), at)
        return texts

    def failure(self, what: Failure, *, message: str | None = None) -> Response:
        """OpenAI's errors are the same for all its endpoints."""
        return self._chat.failure(what, message=message)

    def error_event(self, what: Broken, message: str | None) -> bytes:
        """Nested, as the live API sends it, not flat as its schema says."""
        usual = "The server had an error while processing your request. Sorry about that!"
        error = {"type": "server_error", "code": "server_error", "message": message or usual, "param": None}
        return sse.write(json_bytes.dump({"type": "error", "error": error}), "error")

    def numbered(self, event: bytes, passed: int) -> bytes:
        """With the number that clients with a strict schema demand; events are counted from 0."""
        fields = sse.fields(event)
        if fields is None:
            return event
        return sse.with_data(
            event, json_bytes.put(fields.data, ("sequence_number",), json_bytes.dump(passed))
        )

    def quota(self, quota: Quota) -> Headers:
        """As for chat completions."""
        return self._chat.quota(quota)

    def quota_by(self, provider: str | None, quota: Quota) -> Headers:
        """As for chat completions."""
        return self._chat.quota_by(provider, quota)
