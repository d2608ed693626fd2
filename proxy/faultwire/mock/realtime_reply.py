"""A response of OpenAI Realtime: what the model reads for it, and what it comes to in the end."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import orjson

from faultwire import wire
from faultwire.mock import _shared
from faultwire.mock._api import Conversation
from faultwire.mock.openai_responses import tools_of
from faultwire.wire import json_bytes
from faultwire.wire.editing import token_budget

if TYPE_CHECKING:
    from faultwire.mock._api import Failure, Reply
    from faultwire.mock.openai_responses import Items


def conversation(model: str, settings: dict[str, Any], items: Items) -> Conversation:
    """What the model reads, as a request of the Responses API would say it."""
    normalised = {
        "model": model,
        "instructions": settings.get("instructions"),
        "input": [_plain(item) for _, item in json_bytes.objects(items)],
        "tools": settings.get("tools") or [],
        "stream": True,
    }
    choice = settings.get("tool_choice")
    limits = (settings.get("max_output_tokens"), settings.get("max_response_output_tokens"))
    return Conversation(
        digest=_shared.digest("realtime", normalised),
        view=wire.protocol("openai_responses").request_view(orjson.dumps(normalised)),
        tools=tools_of(normalised),
        may_call=choice != "none",
        must_call=choice == "required" or isinstance(choice, dict),
        only=json_bytes.member(choice, "name"),
        max_tokens=next((n for n in map(_shared.positive, limits) if n), None),
    )


def final(conversation: Conversation, reply: Reply, response_id: str, part: str) -> dict[str, Any]:
    """Status, output and usage of a finished response; `part` is the type of what it says."""
    text, used, cut = _shared.limited_text(conversation, reply)
    output: Items = []
    if text or not reply.calls:
        words = "transcript" if "audio" in part else "text"
        message = {"type": "message", "role": "assistant", "content": [{"type": part, words: text}]}
        output.append(_item(conversation, response_id, message))
    for index, call in enumerate(reply.calls):
        arguments = json.dumps(call.arguments, ensure_ascii=False)
        used += token_budget.count(f"{call.name} {arguments}")
        call_id = _shared.made_id("call_", conversation, f"{response_id}{index}", 16)
        called = {"type": "function_call", "name": call.name, "call_id": call_id, "arguments": arguments}
        output.append(_item(conversation, f"{response_id}{index}", called))
    read = _shared.read_tokens(conversation.view)
    return {
        "status": "incomplete" if cut else "completed",
        "status_details": {"type": "incomplete", "reason": "max_output_tokens"} if cut else None,
        "output": output,
        "usage": {
            "total_tokens": read + used,
            "input_tokens": read,
            "output_tokens": used,
            "input_token_details": {"text_tokens": read, "audio_tokens": 0, "cached_tokens": 0},
            "output_token_details": {"text_tokens": used, "audio_tokens": 0},
        },
    }


def failed(failure: Failure) -> dict[str, Any]:
    """Status of a response that came to nothing."""
    text = failure.message or "The server had an error while processing your request."
    code = "rate_limit_exceeded" if failure.status == 429 else "server_error"
    error = {"type": "server_error", "code": code, "message": text}
    return {"status": "failed", "status_details": {"type": "failed", "error": error}}


def _item(conversation: Conversation, part: str, item: dict[str, Any]) -> dict[str, Any]:
    made = _shared.made_id("item_", conversation, part, 21)
    return {"id": made, "object": "realtime.item", "status": "completed", **item}


def _plain(item: dict[str, Any]) -> dict[str, Any]:
    """An item with its speech as text."""
    if item.get("type") != "message":
        return item
    blocks = (block for _, block in json_bytes.objects(item.get("content")))
    texts = (block.get("text") or block.get("transcript") for block in blocks)
    role = item.get("role")
    kind = "output_text" if role == "assistant" else "input_text"
    content = [{"type": kind, "text": text} for text in texts if isinstance(text, str)]
    return {"type": "message", "role": role, "content": content}
