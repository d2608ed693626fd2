"""Changes of requests, and named failures, of the providers besides OpenAI Chat and Anthropic."""

from __future__ import annotations

from abc import abstractmethod
from typing import TYPE_CHECKING, Literal

from faultwire.wire import json_bytes
from faultwire.wire.cohere import edits as cohere_edits
from faultwire.wire.editing import answers as http_answers, shared as shared_edits
from faultwire.wire.editing.api import Editor, Failure, TextPlace
from faultwire.wire.framing import sse
from faultwire.wire.google import errors as google_errors, gemini_edits
from faultwire.wire.ollama import edits as ollama_edits
from faultwire.wire.openai import quotas as openai_quotas, responses_edits as openai_responses_edits
from faultwire.wire.openai.chat_edits import OpenAIEditor

if TYPE_CHECKING:
    from faultwire.events import Headers, Path, Response
    from faultwire.wire.editing.api import Ability, Change, Quota
    from faultwire.wire.protocol import StreamEditor

Role = Literal["system", "user", "assistant", "tool"]
Broken = Literal["overloaded", "server_error"]
_ROLES: dict[str, Role] = {
    "system": "system",
    "developer": "system",
    "assistant": "assistant",
    "model": "assistant",
    "tool": "tool",
    "function": "tool",
}


def role_of(told: object) -> Role:
    """The word for a role, whatever the provider calls it."""
    return _ROLES.get(json_bytes.string(told), "user")


class Texts:
    """Gathers the texts of a request."""

    def __init__(self, last: int) -> None:
        self.found: list[TextPlace] = []
        self._last = last

    def add(self, role: Role, text: object, path: Path, turn: int) -> None:
        """One text, where it is one."""
        if isinstance(text, str):
            self.found.append(TextPlace(role, text, path, turn, turn > self._last))

    def blocks(self, role: Role, content: object, path: Path, turn: int, key: str = "text") -> None:
        """A content: a string, or the blocks of it that hold text."""
        self.add(role, content, path, turn)
        for at, block in json_bytes.objects(content):
            self.add(role, block.get(key), (*path, at, key), turn)


ALL: frozenset[Ability] = frozenset(("answer", "texts", "failure", "error_event"))


class RequestEditor(Editor):
    """Texts can be changed, and failures named; to build on."""

    abilities: frozenset[Ability] = frozenset(("texts", "failure", "error_event"))

    def texts(self, body: bytes) -> tuple[TextPlace, ...]:
        """Every text of the conversation."""
        return tuple(self.gathered(json_bytes.load_object(body)).found)

    def rewrite_texts(self, body: bytes, changed: dict[Path, str]) -> bytes:
        """The strings at these paths replaced."""
        return shared_edits.rewrite_texts(body, changed)

    @abstractmethod
    def gathered(self, document: json_bytes.Object) -> Texts:
        """The texts of a request."""


def last_said(items: list[tuple[int, json_bytes.Object]]) -> int:
    """Where the model spoke last, -1 where it has not."""
    return max((at for at, item in items if role_of(item.get("role")) == "assistant"), default=-1)


class ResponsesEditor(RequestEditor):
    """OpenAI Responses."""

    abilities: frozenset[Ability] = ALL
    of_tokens = staticmethod(OpenAIEditor.of_tokens)

    def __init__(self) -> None:
        self._chat = OpenAIEditor()

    def change(self, body: bytes, change: Change) -> bytes:
        """A whole answer, changed."""
        return openai_responses_edits.changed(body, change)

    def stream_editor(self, change: Change) -> StreamEditor | None:
        """What is to change is held until the answer stops."""
        return openai_responses_edits.ResponsesStreamEditor(change)

    def gathered(self, document: json_bytes.Object) -> Texts:
        """Instructions, messages, and what tools returned."""
        items = json_bytes.objects(document.get("input"))
        calls = [at for at, item in items if json_bytes.string(item.get("type")).endswith("_call")]
        texts = Texts(max([last_said(items), *calls]))
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


class GeminiEditor(RequestEditor):
    """Gemini. A blocked prompt is no error there, so there is no failure of that name."""

    abilities: frozenset[Ability] = ALL

    def change(self, body: bytes, change: Change) -> bytes:
        """A whole answer, changed."""
        return gemini_edits.changed(body, change)

    def stream_editor(self, change: Change) -> StreamEditor:
        """What is to change is held until the answer stops."""
        return gemini_edits.GeminiStreamEditor(change)

    def gathered(self, document: json_bytes.Object) -> Texts:
        """System instruction, parts, and what functions returned."""
        contents = json_bytes.objects(document.get("contents"))
        texts = Texts(last_said(contents))
        for key in ("systemInstruction", "system_instruction"):
            parts = json_bytes.member(document, key, "parts")
            texts.blocks("system", parts, (key, "parts"), -1)
        for at, content in contents:
            place: Path = ("contents", at, "parts")
            texts.blocks(role_of(content.get("role")), content.get("parts"), place, at)
            for part, block in json_bytes.objects(content.get("parts")):
                for key in ("functionResponse", "function_response"):
                    for name in ("result", "output", "error"):
                        text = json_bytes.member(block, key, "response", name)
                        texts.add("tool", text, (*place, part, key, "response", name), at)
        return texts

    def failure(self, what: Failure, *, message: str | None = None) -> Response | None:
        """Told apart by `status` and text."""
        told = _GEMINI.get(what)
        return google_errors.error_response(told[0], told[1], message or told[2]) if told else None

    def error_event(self, what: Broken, message: str | None) -> bytes:
        """A chunk that is an error."""
        status, word, usual = _GEMINI["overloaded"]
        if what == "server_error":
            status, word, usual = 500, "INTERNAL", "An internal error has occurred."
        error = {"code": status, "message": message or usual, "status": word}
        return b"data: " + json_bytes.dump({"error": error}) + b"\r\n\r\n"


_GEMINI: dict[Failure, tuple[int, str, str]] = {
    "overloaded": (503, "UNAVAILABLE", "The model is overloaded. Please try again later."),
    "quota_exceeded": (
        429,
        "RESOURCE_EXHAUSTED",
        "You exceeded your current quota, please check your plan and billing details.",
    ),
    "context_length": (
        400,
        "INVALID_ARGUMENT",
        "The input token count (1148576) exceeds the maximum number of tokens allowed (1048576).",
    ),
}


class OllamaEditor(RequestEditor):
    """Ollama: runs on one's own machine, so it knows no quota and no filter."""

    abilities: frozenset[Ability] = ALL

    def change(self, body: bytes, change: Change) -> bytes:
        """A whole answer, changed."""
        return ollama_edits.changed(body, change)

    def stream_editor(self, change: Change) -> StreamEditor:
        """What is to change is held until the answer stops."""
        return ollama_edits.OllamaStreamEditor(change)

    def gathered(self, document: json_bytes.Object) -> Texts:
        """System prompt, prompt, messages."""
        messages = json_bytes.objects(document.get("messages"))
        texts = Texts(last_said(messages))
        texts.add("system", document.get("system"), ("system",), -1)
        texts.add("user", document.get("prompt"), ("prompt",), 0)
        for at, message in messages:
            texts.blocks(
                role_of(message.get("role")), message.get("content"), ("messages", at, "content"), at
            )
        return texts

    def failure(self, what: Failure, *, message: str | None = None) -> Response | None:
        """`{"error": …}`."""
        usual = {
            "overloaded": (503, "server busy, please try again.  maximum pending requests exceeded"),
            "context_length": (400, "input length exceeds maximum context length"),
        }.get(what)
        if usual is None:
            return None
        body = json_bytes.dump({"error": message or usual[1]})
        return http_answers.answer(usual[0], body, "application/json; charset=utf-8")

    def error_event(self, what: Broken, message: str | None) -> bytes:
        """A line that is an error."""
        return json_bytes.dump({"error": message or "llama runner process has terminated"}) + b"\n"


class CohereEditor(RequestEditor):
    """Cohere."""

    abilities: frozenset[Ability] = ALL

    def change(self, body: bytes, change: Change) -> bytes:
        """A whole answer, changed."""
        return cohere_edits.changed(body, change)

    def stream_editor(self, change: Change) -> StreamEditor:
        """What is to change is held until the answer stops."""
        return cohere_edits.CohereStreamEditor(change)

    def gathered(self, document: json_bytes.Object) -> Texts:
        """Messages and documents."""
        messages = json_bytes.objects(document.get("messages"))
        texts = Texts(last_said(messages))
        for at, message in messages:
            role, place = role_of(message.get("role")), ("messages", at, "content")
            texts.blocks(role, message.get("content"), place, at)
            for part, block in json_bytes.objects(message.get("content")):
                data = json_bytes.member(block, "document", "data")
                texts.add(role, data, (*place, part, "document", "data"), at)
        return texts

    def failure(self, what: Failure, *, message: str | None = None) -> Response:
        """`{"id", "message"}`."""
        status, usual = _COHERE[what]
        made = http_answers.made_id("", "cohere", status, message or usual, length=32)
        body = json_bytes.dump({"id": made, "message": message or usual})
        return http_answers.answer(status, body, "application/json", ("x-debug-trace-id", made))

    def error_event(self, what: Broken, message: str | None) -> bytes:
        """A last event that says why."""
        usual = "service unavailable" if what == "overloaded" else "internal server error"
        closing = {"finish_reason": "ERROR", "error": message or usual}
        return sse.write(json_bytes.dump({"type": "message-end", "delta": closing}), "message-end")

    def quota(self, quota: Quota) -> Headers:
        """The calls of a trial key."""
        return openai_quotas.cohere(quota)


_COHERE: dict[Failure, tuple[int, str]] = {
    "overloaded": (503, "service unavailable"),
    "quota_exceeded": (429, "You are using a Trial key, which is limited to 1000 API calls / month."),
    "context_length": (
        400,
        "too many tokens: total number of tokens in the prompt exceeds the limit of 256000. Try using a "
        "shorter prompt.",
    ),
    "content_filter": (400, "invalid request: the content was rejected by the safety filter"),
}


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
