"""An agent on the official openai SDK that asks one question several times.

sampling_agent.py MANNER COUNT QUESTION

It logs each request of its HTTP client to stderr: of which sample it is an attempt, when it was begun and
when its answer was there. MANNER: parallel begins all samples at once, without the SDK's retries; retrying
does so with them; warm asks as often before, with success, so that the connections are there; serial asks
again at once what failed, on a client that stays; renewed does so with a new client each time.
"""

import asyncio
import json
import sys
import time
from contextvars import ContextVar

import httpx2
from openai import APIError, AsyncOpenAI

SEND = httpx2.AsyncClient.send
SAMPLE = ContextVar("SAMPLE", default="0")


async def send(self, request, **options):
    line = {"sample": SAMPLE.get(), "began": time.time()}
    try:
        response = await SEND(self, request, **options)
        await response.aread()
        return response
    finally:
        print("SENT", json.dumps(line | {"ended": time.time()}), file=sys.stderr, flush=True)


httpx2.AsyncClient.send = send


async def ask(client, sample, question):
    SAMPLE.set(sample)
    messages = [{"role": "user", "content": question}]
    try:
        await client.chat.completions.create(model="gpt-4o-mini", messages=messages)
    except APIError as error:
        return type(error).__name__
    return "answered"


async def main(manner, count, question):
    client = AsyncOpenAI(max_retries=2 if manner == "retrying" else 0)
    if manner in ("serial", "renewed"):
        ends = []
        for _ in range(count):
            if manner == "renewed":
                await client.close()
                client = AsyncOpenAI(max_retries=0)
            ends.append(await ask(client, "0", question))
    else:
        if manner == "warm":
            warm = (ask(client, f"before {n}", "Name some lakes.") for n in range(count))
            await asyncio.gather(*warm)
        ends = await asyncio.gather(*(ask(client, str(n), question) for n in range(count)))
    print(", ".join(ends))


asyncio.run(main(sys.argv[1], int(sys.argv[2]), sys.argv[3]))
