"""An agent on the official OpenAI SDK, whose tools are plain HTTP: it has never heard of faultwire."""

from __future__ import annotations

import json
import os
import sys
import urllib.error
import urllib.request

import openai

TOOLS = os.environ["FAULTWIRE_BENCH_TOOLS_URL"]
DIRECT = urllib.request.build_opener(urllib.request.ProxyHandler({}))


def get(url: str, data: bytes | None = None) -> str:
    request = urllib.request.Request(url, data, {"content-type": "application/json"})
    try:
        with DIRECT.open(request, timeout=60) as response:
            return str(response.read().decode())
    except urllib.error.HTTPError as error:
        return error.read().decode()


client = openai.OpenAI(http_client=openai.DefaultHttpxClient(trust_env=False))
tools = json.loads(get(TOOLS))["tools"]
messages = [{"role": "user", "content": sys.argv[1]}]
while True:
    message = client.chat.completions.create(model="m", messages=messages, tools=tools).choices[0].message
    messages.append(message.model_dump(exclude_none=True))
    if not message.tool_calls:
        print(message.content)
        break
    for call in message.tool_calls:
        text = get(f"{TOOLS}/{call.function.name}", call.function.arguments.encode())
        messages.append({"role": "tool", "tool_call_id": call.id, "content": text})
