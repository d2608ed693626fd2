"""Billing as an agent of its own, on one framework, served over HTTP; it knows nothing of faultwire.

served_agent.py FRAMEWORK PORT           serves POST /billing {"task": TEXT}
served_agent.py FRAMEWORK PORT TASK...   the same, and a planner that asks it these tasks through its proxy
"""

from __future__ import annotations

import asyncio
import json
import sys
import threading
import urllib.request
import uuid
import warnings
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

warnings.simplefilter("ignore")
FRAMEWORK, PORT, TASKS = sys.argv[1], int(sys.argv[2]), sys.argv[3:]
LOOP = asyncio.new_event_loop()
"""One for all requests: the SDK's client belongs to a loop."""
PROMPT = "You are the billing agent. Reserve, then pay."


def account(order: str) -> str:
    """Gives the account that pays for an order."""
    return json.dumps({"account": "IBAN-CANARY-7431"})


def reserve(order: str) -> str:
    """Reserves the goods of an order."""
    return "reserved"


def pay(order: str, note: str) -> str:
    """Pays for an order."""
    return "paid"


def langgraph(task: str) -> str:
    from langchain_core.tools import tool
    from langchain_openai import ChatOpenAI
    from langgraph.prebuilt import create_react_agent

    agent = create_react_agent(
        ChatOpenAI(model="gpt-4o-mini"), [tool(one) for one in (account, reserve, pay)], prompt=PROMPT
    )
    return agent.invoke({"messages": [("user", task)]})["messages"][-1].content


def openai_agents(task: str) -> str:
    from agents import Agent, Runner, function_tool, set_tracing_disabled

    set_tracing_disabled(True)
    tools = [function_tool(one) for one in (account, reserve, pay)]
    agent = Agent(name="billing", instructions=PROMPT, model="gpt-4o-mini", tools=tools)
    return asyncio.run_coroutine_threadsafe(Runner.run(agent, task), LOOP).result().final_output


class Handler(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        self.reply({})

    def do_POST(self) -> None:
        asked = json.loads(self.rfile.read(int(self.headers["content-length"])))
        run = {"langgraph": langgraph, "openai-agents": openai_agents}[FRAMEWORK]
        self.reply({"id": str(uuid.uuid4()), "follows": asked.get("follows"), "answer": run(asked["task"])})

    def reply(self, document: dict[str, Any]) -> None:
        body = json.dumps(document).encode()
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Nothing on stderr."""


threading.Thread(target=LOOP.run_forever, daemon=True).start()
server = ThreadingHTTPServer(("127.0.0.1", PORT), Handler)
if not TASKS:
    server.serve_forever()
threading.Thread(target=server.serve_forever, daemon=True).start()
follows, met = None, []
for task in TASKS:
    body = json.dumps({"task": task, "follows": follows}).encode()
    headers = {"content-type": "application/json", "user-agent": "planner/1"}
    request = urllib.request.Request(f"http://127.0.0.1:{PORT}/billing", body, headers)
    said = json.loads(urllib.request.urlopen(request, timeout=120).read())
    follows = said["id"]
    met.append(said["answer"])
print(json.dumps({"answers": met}))
