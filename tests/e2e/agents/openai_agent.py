"""An agent on the official openai SDK, as its own program: prints what it met as one JSON object.

openai_agent.py [WAY ...]      WAY: sync/whole sync/stream async/whole async/stream tools first
"""

import asyncio
import json
import sys
import threading
import time

from openai import AsyncOpenAI, OpenAI

MODEL = "gpt-4o-mini"
TOOLS = [
    {
        "type": "function",
        "function": {
            "name": "calculator",
            "description": "Evaluates an arithmetic expression",
            "parameters": {
                "type": "object",
                "properties": {"expression": {"type": "string"}},
                "required": ["expression"],
            },
        },
    }
]


def asked(way):
    return {"model": MODEL, "messages": [{"role": "user", "content": f"Tell me about rivers ({way})."}]}


def whole(answer):
    choice = answer.choices[0]
    told = {"text": choice.message.content, "finish": choice.finish_reason, "id": answer.id}
    return {**told, "request_id": answer._request_id}


class Stream:
    def __init__(self):
        self.text, self.finish, self.at = "", None, []

    def take(self, event):
        self.at.append(time.monotonic())
        for choice in event.choices:
            self.text += choice.delta.content or ""
            self.finish = choice.finish_reason or self.finish

    def result(self):
        gaps = [round(b - a, 4) for a, b in zip(self.at, self.at[1:])]
        return {"text": self.text, "finish": self.finish, "events": len(self.at), "gaps": gaps}


def sync_whole():
    return whole(OpenAI().chat.completions.create(**asked("sync/whole")))


def sync_stream():
    seen = Stream()
    return collect(
        seen,
        lambda: [seen.take(e) for e in OpenAI().chat.completions.create(stream=True, **asked("sync/stream"))],
    )


async def async_whole():
    return whole(await AsyncOpenAI().chat.completions.create(**asked("async/whole")))


async def async_stream():
    seen = Stream()
    try:
        async for event in await AsyncOpenAI().chat.completions.create(stream=True, **asked("async/stream")):
            seen.take(event)
    except BaseException as error:
        error.partial = seen.result()
        raise
    return seen.result()


def collect(seen, run):
    try:
        run()
    except BaseException as error:
        error.partial = seen.result()
        raise
    return seen.result()


def tools():
    client = OpenAI()
    messages = [{"role": "user", "content": "What is 6*7?"}]
    results = []
    for _ in range(4):
        answer = client.chat.completions.create(model=MODEL, messages=messages, tools=TOOLS)
        message = answer.choices[0].message
        messages.append(message.model_dump(exclude_none=True))
        if not message.tool_calls:
            return {**whole(answer), "results": results}
        for call in message.tool_calls:
            result = json.dumps(
                {"value": 42, "expression": json.loads(call.function.arguments)["expression"]}
            )
            results.append(result)
            messages.append({"role": "tool", "tool_call_id": call.id, "content": result})
    return {"text": None, "finish": "gave up", "results": results}


def first():
    """Print a line as soon as the first event is there, then read on."""
    seen = Stream()
    for event in OpenAI().chat.completions.create(stream=True, **asked("first")):
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
