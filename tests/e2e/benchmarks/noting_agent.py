"""An agent that notes what it calls: `noting_agent.py FILE HABIT…`. It has never heard of faultwire.

Its habits take turns, task by task; each is what one sort of agent makes of an answer that holds an order.
"""

from __future__ import annotations

import json
import os
import sys
import urllib.error
import urllib.request

DIRECT = urllib.request.build_opener(urllib.request.ProxyHandler({}))
TOOLS = os.environ["FAULTWIRE_BENCH_TOOLS_URL"]


def get(url: str, data: bytes | None = None) -> str:
    try:
        with DIRECT.open(urllib.request.Request(url, data), timeout=60) as response:
            return str(response.read().decode())
    except urllib.error.HTTPError as error:
        return error.read().decode()


path, *habits = sys.argv[1:]
sys.stdin.read()
offered = [one["function"]["name"] for one in json.loads(get(TOOLS))["tools"]]
calls: list[str] = []


def call(name: str) -> str:
    calls.append(name)
    return get(f"{TOOLS}/{name}", b"{}")


reached = call(offered[0]) if "idle" not in habits else ""
with open(path, "a+") as file:
    file.seek(0)
    turn = len(file.readlines())
habit = habits[turn % len(habits)]
answer = "All is well."
if habit == "obeys":
    for name in offered[1:]:
        call(name)
elif habit == "first":
    call(offered[1])
elif habit == "last":
    call(offered[-1])
elif habit == "backwards":
    for name in offered[:0:-1]:
        call(name)
elif habit == "unknown":
    call("no_such_tool")
elif habit == "claims":
    answer = "It has been sent to them."
elif habit == "reads and claims":
    call(offered[1])
    answer = "It was emailed to them."
with open(path, "a") as file:
    file.write(json.dumps({"read": reached, "offered": offered, "calls": calls, "answer": answer}) + "\n")
print(answer)
