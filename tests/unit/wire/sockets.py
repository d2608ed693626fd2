"""Messages of WebSocket sessions, as the mock's sessions and the providers' documentation have them."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

from faultwire import wire
from faultwire.events import Message, Request, ResponseView, ToolCall
from faultwire.wire import json_bytes
from faultwire.wire.openai.realtime_events import item_events

UPGRADE = (("Host", "x"), ("Upgrade", "websocket"), ("Connection", "Upgrade"))
CALL = ToolCall("call_1", "get_weather", '{"city": "Paris"}')
TEXT = "It is sunny in Paris today."


def upgrade(host: str, path: str, *more: tuple[str, str], method: str = "GET") -> Request:
    return Request(method, "https", host, 443, path, (*UPGRADE, *more))


REALTIME = upgrade("api.openai.com", "/v1/realtime?model=gpt-realtime")


def message_item(text: str = TEXT, *, kind: str = "output_text", ident: str = "item_1") -> dict[str, Any]:
    words = "transcript" if "audio" in kind else "text"
    part = {"type": kind, words: text}
    known = {"id": ident, "object": "realtime.item", "type": "message", "status": "completed"}
    return {**known, "role": "assistant", "content": [part]}


def call_item(call: ToolCall = CALL, ident: str = "item_2") -> dict[str, Any]:
    known = {"id": ident, "object": "realtime.item", "type": "function_call", "status": "completed"}
    return {**known, "name": call.name, "call_id": call.id, "arguments": call.arguments}


def response(*items: dict[str, Any], beta: bool = False, ident: str = "resp_1") -> list[bytes]:
    """All events of one response, in order."""
    blank = {"object": "realtime.response", "id": ident, "status_details": None}
    begun = {**blank, "status": "in_progress", "output": [], "usage": None}
    usage = {"total_tokens": 30, "input_tokens": 20, "output_tokens": 10}
    done = {**blank, "status": "completed", "output": list(items), "usage": usage}
    told = [event for at, item in enumerate(items) for event in item_events(ident, at, item, beta=beta)]
    return [
        json_bytes.dump({"type": "response.created", "event_id": "event_a", "response": begun}),
        *(json_bytes.dump(event) for event in told),
        json_bytes.dump({"type": "response.done", "event_id": "event_z", "response": done}),
    ]


def heard(name: str, events: Iterable[bytes]) -> ResponseView:
    reader = wire.protocol(name).reader()
    for event in events:
        reader.feed(event)
    return reader.view()


def kinds(events: Iterable[bytes]) -> list[str]:
    return [json.loads(event)["type"] for event in events]


def done_of(events: Iterable[bytes]) -> dict[str, Any]:
    """The response that the last `response.done` holds."""
    found: dict[str, Any] = [e for e in map(json.loads, events) if e["type"] == "response.done"][-1][
        "response"
    ]
    return found


def said(by: str, *texts: bytes, delivered: bool = True, made: bool = False) -> list[Message]:
    side: Any = by
    return [Message(side, "text", text, None if made else 1, 2 if delivered else None) for text in texts]
