"""An agent that stays: a process of its own which works on a task for each line of its stdin.

A line names where its model and its tools are and what is asked; it answers with a line. A start for each
task costs more than the task, and makes no difference to what is measured with it.
"""

from __future__ import annotations

import json
import sys
import urllib.request

DIRECT = urllib.request.build_opener(urllib.request.ProxyHandler({}))


def post(url: str, body: object) -> str:
    headers = {"content-type": "application/json", "authorization": "Bearer scripted"}
    with DIRECT.open(urllib.request.Request(url, json.dumps(body).encode(), headers), timeout=60) as response:
        return str(response.read().decode())


def work(base: str, prompt: str) -> str:
    messages: list[dict[str, object]] = [{"role": "user", "content": prompt}]
    while True:
        said = json.loads(post(f"{base}/v1/chat/completions", {"model": "m", "messages": messages}))
        message = said["choices"][0]["message"]
        messages.append(message)
        if not message.get("tool_calls"):
            return str(message["content"])
        for call in message["tool_calls"]:
            function = call["function"]
            text = post(f"{base}/tools/{function['name']}", json.loads(function["arguments"]))
            messages.append({"role": "tool", "tool_call_id": call["id"], "content": text})


for line in sys.stdin:
    asked = json.loads(line)
    sys.stdout.write(json.dumps(work(asked["base"], asked["prompt"])) + "\n")
    sys.stdout.flush()
