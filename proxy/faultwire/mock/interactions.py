"""Gemini Interactions, answered. Conversations are kept, so that a request may name an earlier one."""

from __future__ import annotations

from collections import OrderedDict
from typing import TYPE_CHECKING, Any

import orjson

from faultwire import wire
from faultwire.mock import _shared
from faultwire.mock._api import Conversation, Dialect, Tool
from faultwire.mock._shared import refuse
from faultwire.mock.gemini import GeminiDialect
from faultwire.wire import json_bytes
from faultwire.wire.editing import token_budget
from faultwire.wire.framing import sse

if TYPE_CHECKING:
    from faultwire.events import Headers, Request
    from faultwire.mock._api import Reply
    from faultwire.wire.protocol import Protocol

_KEPT = 1024
"""Conversations that are kept."""
_TIME = "2026-01-01T00:00:00Z"
Steps = list[dict[str, Any]]


class InteractionsDialect(Dialect):
    """`POST /{version}/interactions`."""

    protocol = "interactions"
    path = "/interactions"
    base = ""
    provider = "Google Gemini Interactions"
    stream_type = "text/event-stream"

    def __init__(self) -> None:
        self._gemini = GeminiDialect()
        self._asked: OrderedDict[str, Steps] = OrderedDict()
        self._kept: OrderedDict[str, Steps] = OrderedDict()

    def check_key(self, request: Request) -> None:
        """As for generateContent."""
        self._gemini.check_key(request)

    def read(self, body: bytes) -> Conversation:
        """The conversation with what came before it."""
        document = _shared.document(self._wire, body)
        if not any(json_bytes.string(document.get(key)) for key in ("model", "agent")):
            raise refuse(self._wire, "Either `model` or `agent` must be set.")
        steps = [*self._before(document), *_steps(document.get("input"))]
        if not steps:
            raise refuse(self._wire, "`input` is required.")
        normalised = {**document, "input": steps}
        digest = _shared.digest(self.protocol, normalised)
        _keep(self._asked, digest, steps)
        settings = document.get("generation_config")
        choice = json_bytes.member(settings, "tool_choice")
        return Conversation(
            digest=digest,
            view=self._wire.request_view(orjson.dumps(normalised)),
            tools=_tools(document),
            may_call=choice != "none",
            must_call=choice == "any",
            max_tokens=_shared.positive(json_bytes.member(settings, "max_output_tokens")),
        )

    def headers(self, conversation: Conversation) -> Headers:
        """As for generateContent."""
        return self._gemini.headers(conversation)

    def whole(self, conversation: Conversation, reply: Reply) -> bytes:
        """One interaction."""
        return orjson.dumps(self._interaction(conversation, reply))

    def events(self, conversation: Conversation, reply: Reply) -> tuple[bytes, ...]:
        """From `interaction.created` to `interaction.completed`, and `[DONE]`."""
        final = self._interaction(conversation, reply)
        brief = {key: value for key, value in final.items() if key not in ("steps", "usage")}
        out: list[dict[str, Any]] = [
            {"event_type": "interaction.created", "interaction": {**brief, "status": "in_progress"}}
        ]
        for index, step in enumerate(final["steps"]):
            out += _step_events(index, step)
        status = {"interaction_id": final["id"], "status": final["status"]}
        out.append({"event_type": "interaction.status_update", **status})
        last = {**brief, "usage": final["usage"]}
        out.append({"event_type": "interaction.completed", "interaction": last})
        events = (sse.write(orjson.dumps(event), event["event_type"]) for event in out)
        return (*events, sse.write(b"[DONE]", "done"))

    def _before(self, document: dict[str, Any]) -> Steps:
        previous = document.get("previous_interaction_id")
        if previous is None:
            return []
        found = self._kept.get(json_bytes.string(previous))
        if found is None:
            raise refuse(self._wire, f"Interaction `{previous}` was not found.", 404)
        return found

    def _interaction(self, conversation: Conversation, reply: Reply) -> dict[str, Any]:
        text, used, cut = _shared.limited_text(conversation, reply)
        steps: Steps = []
        if text or not reply.calls:
            steps.append({"type": "model_output", "content": [{"type": "text", "text": text}]})
        for at, call in enumerate(reply.calls):
            made = _shared.made_id("", conversation, f"call{at}", length=8)
            step = {"type": "function_call", "id": made, "name": call.name, "arguments": call.arguments}
            steps.append(step)
            used += token_budget.count(f"{call.name} {orjson.dumps(call.arguments).decode()}")
        read = _shared.read_tokens(conversation.view)
        made = _shared.made_id("v1_", conversation, length=32)
        _keep(self._kept, made, [*self._asked.get(conversation.digest, []), *steps])
        return {
            "id": made,
            "object": "interaction",
            "model": conversation.view.model,
            "status": "incomplete" if cut else "requires_action" if reply.calls else "completed",
            "created": _TIME,
            "updated": _TIME,
            "steps": steps,
            "usage": {
                "total_input_tokens": read,
                "total_output_tokens": used,
                "total_thought_tokens": 0,
                "total_tokens": read + used,
            },
        }

    @property
    def _wire(self) -> Protocol:
        return wire.protocol(self.protocol)


def _steps(asked: Any) -> Steps:
    """The input as steps, whatever its form."""
    if isinstance(asked, str):
        asked = [{"type": "text", "text": asked}]
    if isinstance(asked, dict):
        asked = [asked]
    found = [step for _, step in json_bytes.objects(asked)]
    if found and all("text" in step or "data" in step or "uri" in step for step in found):
        return [{"type": "user_input", "content": found}]
    return found


def _step_events(index: int, step: dict[str, Any]) -> list[dict[str, Any]]:
    if step["type"] == "model_output":
        begun = {**step, "content": []}
        deltas = [{"type": "text", "text": word} for word in _shared.words(step["content"][0]["text"])]
    else:
        begun = {**step, "arguments": {}}
        pieces = _shared.pieces(orjson.dumps(step["arguments"]).decode())
        deltas = [{"type": "arguments_delta", "arguments": piece} for piece in pieces]
    return [
        {"event_type": "step.start", "index": index, "step": begun},
        *({"event_type": "step.delta", "index": index, "delta": delta} for delta in deltas),
        {"event_type": "step.stop", "index": index},
    ]


def _tools(document: dict[str, Any]) -> tuple[Tool, ...]:
    found = []
    for _, tool in json_bytes.objects(document.get("tools")):
        schema = tool.get("parameters")
        if tool.get("type") == "function" and isinstance(tool.get("name"), str):
            known = schema if isinstance(schema, dict) else {}
            found.append(Tool(tool["name"], json_bytes.string(tool.get("description")), known))
    return tuple(found)


def _keep(kept: OrderedDict[str, Steps], key: str, steps: Steps) -> None:
    kept[key] = steps
    kept.move_to_end(key)
    while len(kept) > _KEPT:
        kept.popitem(last=False)
