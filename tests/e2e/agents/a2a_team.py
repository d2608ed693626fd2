"""Agents on the official A2A SDK 1.x that ask others: prints what each saw as one JSON line.

Usage: a2a_team.py URL PLAN, where PLAN is a JSON list of rounds, and a round is a list of calls
`[CALLER, CALLED, TEXT]` that are made at once, in this order. Each waits at most two seconds. A delegate that
asks back is answered, up to four times.
"""

from __future__ import annotations

import asyncio
import json
import sys
from typing import Any

import httpx
from a2a.client import A2ACardResolver, ClientConfig, ClientFactory
from a2a.types import Message, Part, Role, SendMessageRequest, TaskState


async def main() -> None:
    url, plan = sys.argv[1], json.loads(sys.argv[2])
    print(
        json.dumps({"rounds": [await asyncio.gather(*(ask(url, *one) for one in calls)) for calls in plan]})
    )


async def ask(url: str, caller: str, called: str, text: str) -> dict[str, Any]:
    headers = {"user-agent": f"{caller}/1"}
    async with httpx.AsyncClient(headers=headers, timeout=2) as http:
        try:
            return await talk(http, f"{url}/{called}", text)
        except Exception as error:  # noqa: BLE001 - whatever the SDK raises is what this program is for
            return {"error": type(error).__name__}


async def talk(http: httpx.AsyncClient, url: str, text: str) -> dict[str, Any]:
    card = await A2ACardResolver(http, url).get_agent_card()
    config = ClientConfig(streaming=False, httpx_client=http, supported_protocol_bindings=["JSONRPC"])
    client = ClientFactory(config).create(card)
    said: list[str] = []
    for turn in range(5):
        message = Message(message_id=f"m{turn}", role=Role.ROLE_USER, parts=[Part(text=text)])
        state = ""
        async for event in client.send_message(SendMessageRequest(message=message)):
            if event.HasField("task"):
                state = TaskState.Name(event.task.status.state)
                said += [part.text for artifact in event.task.artifacts for part in artifact.parts]
        if not state.endswith("INPUT_REQUIRED"):
            break
        text = "Any will do."
    return {"said": said, "state": state.removeprefix("TASK_STATE_").lower(), "turns": turn + 1}


asyncio.run(main())
