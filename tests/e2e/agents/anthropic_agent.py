"""An agent on the official anthropic SDK, as its own program: prints what it met as one JSON object.

anthropic_agent.py [WAY ...]   WAY: sync/whole sync/stream async/whole async/stream tools first
"""

import asyncio
import json
import sys
import threading
import time

from anthropic import Anthropic, AsyncAnthropic

MODEL = "claude-sonnet-4-5"
TOOLS = [
    {
        "name": "calculator",
        "description": "Evaluates an arithmetic expression",
        "input_schema": {
            "type": "object",
            "properties": {"expression": {"type": "string"}},
            "required": ["expression"],
        },
    }
]


def asked(way):
    return {
        "model": MODEL,
        "max_tokens": 500,
        "messages": [{"role": "user", "content": f"Tell me about rivers ({way})."}],
    }


def whole(answer):
    text = "".join(block.text for block in answer.content if block.type == "text")
    told = {"text": text, "finish": answer.stop_reason, "id": answer.id}
    return {**told, "request_id": answer._request_id}


class Stream:
    def __init__(self):
        self.text, self.finish, self.at = "", None, []

    def take(self, event):
        self.at.append(time.monotonic())
        if event.type == "content_block_delta" and event.delta.type == "text_delta":
            self.text += event.delta.text
        elif event.type == "message_delta":
            self.finish = event.delta.stop_reason

    def result(self):
        gaps = [round(b - a, 4) for a, b in zip(self.at, self.at[1:])]
        return {"text": self.text, "finish": self.finish, "events": len(self.at), "gaps": gaps}


def sync_whole():
    return whole(Anthropic().messages.create(**asked("sync/whole")))


def sync_stream():
    seen = Stream()
    try:
        for event in Anthropic().messages.create(stream=True, **asked("sync/stream")):
            seen.take(event)
    except BaseException as error:
        error.partial = seen.result()
        raise
    return seen.result()


async def async_whole():
    return whole(await AsyncAnthropic().messages.create(**asked("async/whole")))


async def async_stream():
    seen = Stream()
    try:
        async for event in await AsyncAnthropic().messages.create(stream=True, **asked("async/stream")):
            seen.take(event)
    except BaseException as error:
        error.partial = seen.result()
        raise
    return seen.result()


def tools():
    client = Anthropic()
    messages = [{"role": "user", "content": "What is 6*7?"}]
    results = []
    for _ in range(4):
        answer = client.messages.create(model=MODEL, max_tokens=500, messages=messages, tools=TOOLS)
        messages.append(
            {"role": "assistant", "content": [b.model_dump(exclude_none=True) for b in answer.content]}
        )
        calls = [block for block in answer.content if block.type == "tool_use"]
        if not calls:
            return {**whole(answer), "results": results}
        blocks = []
        for call in calls:
            result = json.dumps({"value": 42, "expression": call.input["expression"]})
            results.append(result)
            blocks.append({"type": "tool_result", "tool_use_id": call.id, "content": result})
        messages.append({"role": "user", "content": blocks})
    return {"text": None, "finish": "gave up", "results": results}


def first():
    """Print a line as soon as the first event is there, then read on."""
    seen = Stream()
    for event in Anthropic().messages.create(stream=True, **asked("first")):
        seen.take(event)
        if len(seen.at) == 1:
            print(json.dumps({"first": True}), flush=True)
    return seen.result()


WAYS = {
    "sync/whole": sync_whole,
    "sync/stream": sync_stream,
    "async/whole": lambda: asyncio.run(async_whole()),
    "async/stream": lambda: asyncio.run(async_stream()),
    "tools": tools,
    "first": first,
}


def meet(way, out):
    start = time.monotonic()
    try:
        out[way] = WAYS[way]()
    except Exception as error:
        out[way] = {
            "error": type(error).__name__,
            "status": getattr(error, "status_code", None),
            "message": str(error)[:300],
            **getattr(error, "partial", {}),
        }
    out[way]["seconds"] = round(time.monotonic() - start, 3)


def main():
    ways = sys.argv[1:] or ["sync/whole", "sync/stream", "async/whole", "async/stream"]
    out = {}
    threads = [threading.Thread(target=meet, args=(way, out)) for way in ways]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    print(json.dumps(out))


main()
