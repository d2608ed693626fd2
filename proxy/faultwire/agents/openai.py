"""An agent that speaks OpenAI's protocol: chat completions or responses, at any address."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from faultwire.agents._answer import Missed, as_text
from faultwire.agents._request import call
from faultwire.agents._served import FAILED, CallResult, Served, text_of
from faultwire.events import with_header

if TYPE_CHECKING:
    from faultwire.agents._api import Asked
    from faultwire.agents._dial import HttpReply
    from faultwire.events import Headers

PATHS = {"chat": "/chat/completions", "responses": "/responses"}
"""The path of each API below the base URL."""


@dataclass
class OpenAIAgent(Served):
    """How to call it. Every turn sends the whole conversation; nothing is streamed."""

    model: str = ""
    api: str = "chat"
    api_key: str | None = field(default=None, repr=False)
    system: str | None = None
    parameters: Mapping[str, Any] = field(default_factory=dict)

    def call(self, asked: Asked, headers: Headers) -> CallResult:
        """Ask turn by turn."""
        url = urlsplit(self.endpoint)
        if not url.path.endswith(PATHS[self.api]):
            url = url._replace(path=url.path.rstrip("/") + PATHS[self.api])
        headers = with_header(headers, "content-type", "application/json")
        if self.api_key:
            headers = with_header(headers, "authorization", f"Bearer {self.api_key}")
        turns: list[dict[str, str]] = []
        result = CallResult("", FAILED)
        for at, turn in enumerate(asked.turns):
            turns.append({"role": "user", "content": turn})
            request = call("POST", url, headers=headers, body=json.dumps(self._body(turns)).encode())
            result, _ = self.ask(request, asked.request if at == len(asked.turns) - 1 else None)
            if not result.well:
                break
            turns.append({"role": "assistant", "content": result.answer})
        return result

    def _body(self, turns: list[dict[str, str]]) -> dict[str, Any]:
        body: dict[str, Any] = {**self.parameters, "model": self.model}
        if self.api == "responses":
            return body | {"input": turns} | ({"instructions": self.system} if self.system else {})
        system = [{"role": "system", "content": self.system}] if self.system else []
        return body | {"messages": [*system, *turns]}

    def read(self, reply: HttpReply) -> CallResult:
        """The text of the reply; a refusal is one, a call of a tool is none."""
        try:
            document = json.loads(text_of(reply))
            if not isinstance(document, dict):
                raise Missed("found JSON that is not an object")
            if document.get("error"):
                raise Missed(f"the agent reported a failure: {as_text(document['error'])[:200]}")
            return CallResult(_responses(document) if self.api == "responses" else _chat(document))
        except Missed as missed:
            return CallResult("", FAILED, f"faultwire: no answer: {missed}")
        except (ValueError, RecursionError):
            return CallResult("", FAILED, "faultwire: no answer: found no JSON in the agent's reply")


def chat_text(document: Any) -> str:
    """The text of a whole Chat Completion. Raises Missed."""
    if not isinstance(document, dict):
        raise Missed("found JSON that is not an object")
    return _chat(document)


def _chat(document: dict[str, Any]) -> str:
    """The text of the first choice."""
    choices = document.get("choices")
    choice = choices[0] if isinstance(choices, list) and choices else None
    message = choice.get("message") if isinstance(choice, dict) else None
    if not isinstance(message, dict):
        raise Missed("found no `choices[0].message`")
    text = _texts(message.get("content"), ("text",)) or message.get("refusal")
    if not isinstance(text, str):
        wanted = " (it calls tools, which the agent should do itself)" if message.get("tool_calls") else ""
        raise Missed(f"found no text in `choices[0].message.content`{wanted}")
    return text


def _responses(document: dict[str, Any]) -> str:
    """The texts of all messages in the output."""
    output = document.get("output")
    items = [item for item in output if isinstance(item, dict)] if isinstance(output, list) else []
    texts = [_texts(item.get("content"), ("output_text", "text", "refusal")) for item in items]
    found = [text for text in texts if text is not None]
    if not found:
        raise Missed(f"found no text in `output` (status `{document.get('status')}`)")
    return "".join(found)


def _texts(content: Any, kinds: tuple[str, ...]) -> str | None:
    """A content's text: itself, or that of its parts; None where it has none."""
    if isinstance(content, str):
        return content
    parts = [part for part in content if isinstance(part, dict)] if isinstance(content, list) else []
    found = [part.get("text", part.get("refusal")) for part in parts if part.get("type") in kinds]
    texts = [text for text in found if isinstance(text, str)]
    return "".join(texts) if texts else None
