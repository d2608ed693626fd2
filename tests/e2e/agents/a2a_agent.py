"""An agent on the official A2A SDK that asks another agent: prints what it saw as one JSON line.

Usage: a2a_agent.py 0|1 URL WAY…, where a way is `whole`, `stream`, `rest-whole`, `rest-stream` or `card`.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
from typing import Any

import httpx

QUESTION = "Say what you can do ({way})."


async def main() -> None:
    generation, url, *ways = sys.argv[1:]
    url = os.environ.get(url, url)  # a URL, or the variable that holds one
    ask = old if generation == "0" else new
    seen: dict[str, Any] = {}
    for way in ways:
        async with httpx.AsyncClient() as http:
            try:
                seen[way] = await ask(http, url, way)
            except Exception as error:  # whatever the SDK raises is what this program is for
                told = {"error": type(error).__name__, "message": str(error)[:200]}
                cause = error.__cause__
                seen[way] = told | ({"cause": type(cause).__name__} if cause else {})
    print(json.dumps(seen))


async def old(http: httpx.AsyncClient, url: str, way: str) -> dict[str, Any]:
    """The line 0.3 of the SDK."""
    from a2a.client import A2ACardResolver, ClientConfig, ClientFactory
    from a2a.types import Message, Part, Role, TextPart, TransportProtocol

    card = await A2ACardResolver(http, url).get_agent_card()
    if way == "card":
        return {"name": card.name, "url": card.url, "description": card.description}
    binding = TransportProtocol.http_json if way.startswith("rest") else TransportProtocol.jsonrpc
    config = ClientConfig(
        streaming=way.endswith("stream"),
        httpx_client=http,
        supported_transports=[binding],
        use_client_preference=True,
    )
    client = ClientFactory(config).create(card)
    text = TextPart(text=QUESTION.format(way=way))
    message = Message(message_id="m1", role=Role.user, parts=[Part(root=text)])
    task: Any = None
    events = 0
    async for event in client.send_message(message):
        events += 1
        task = event[0] if isinstance(event, tuple) else event
    words = [part.root.text for artifact in task.artifacts or [] for part in artifact.parts]
    return {"text": "".join(words), "state": task.status.state.value, "events": events, "id": task.id}


async def new(http: httpx.AsyncClient, url: str, way: str) -> dict[str, Any]:
    """The line 1.x of the SDK."""
    from a2a.client import A2ACardResolver, ClientConfig, ClientFactory
    from a2a.types import Message, Part, Role, SendMessageRequest, TaskState

    card = await A2ACardResolver(http, url).get_agent_card()
    if way == "card":
        addresses = [interface.url for interface in card.supported_interfaces]
        return {"name": card.name, "url": addresses[0], "description": card.description}
    binding = "HTTP+JSON" if way.startswith("rest") else "JSONRPC"
    config = ClientConfig(
        streaming=way.endswith("stream"), httpx_client=http, supported_protocol_bindings=[binding]
    )
    client = ClientFactory(config).create(card)
    message = Message(message_id="m1", role=Role.ROLE_USER, parts=[Part(text=QUESTION.format(way=way))])
    words: list[str] = []
    state, ident, events = "", "", 0
    async for event in client.send_message(SendMessageRequest(message=message)):
        events += 1
        if event.HasField("task"):
            state, ident = TaskState.Name(event.task.status.state), event.task.id
            words += [part.text for artifact in event.task.artifacts for part in artifact.parts]
        elif event.HasField("status_update"):
            state = TaskState.Name(event.status_update.status.state)
        elif event.HasField("artifact_update"):
            words += [part.text for part in event.artifact_update.artifact.parts]
    state = state.removeprefix("TASK_STATE_").lower()
    return {"text": "".join(words), "state": state, "events": events, "id": ident}


asyncio.run(main())
