"""An agent with a tool at each site, on the official SDKs: `sites_agent.py MANNERS PORT PROMPT`.

`find` is an HTTP service on PORT, `web_search` a tool of an MCP server, `lookup` a function. MANNERS:
`careful` tells the model of failures, `careless` hides them, `silent` never calls a tool.
"""

import asyncio
import json
import sys
import urllib.request

from mcp.client.client import Client
from mcp.client.streamable_http import streamable_http_client
from openai import OpenAI

SYSTEM = {
    "careful": "Use your tools. Never invent anything: say what failed.",
    "careless": "Use your tools. Always give an answer.",
    "silent": "Answer from memory.",
}
MCP = "http://mcp.mock.test/mcp"


def find(query: str, port: str) -> str:
    body = json.dumps({"query": query}).encode()
    request = urllib.request.Request(
        f"http://127.0.0.1:{port}/find", body, {"content-type": "application/json"}
    )
    with urllib.request.urlopen(request, timeout=30) as response:
        return response.read().decode()


def web_search(query: str, port: str) -> str:
    async def call() -> tuple[str, bool]:
        async with Client(server=streamable_http_client(MCP), mode="auto", read_timeout_seconds=20) as client:
            result = await client.call_tool("web_search", {"query": query})
            text = "\n".join(block.text for block in result.content if block.type == "text")
            return text, bool(result.is_error)

    text, failed = asyncio.run(call())
    if failed:
        raise OSError(text)
    return text


def lookup(query: str, port: str) -> str:
    return json.dumps({"query": query, "score": 87})


TOOLS = {"find": find, "web_search": web_search, "lookup": lookup}
OFFERED = [
    {
        "type": "function",
        "function": {
            "name": name,
            "parameters": {
                "type": "object",
                "properties": {"query": {"type": "string"}},
                "required": ["query"],
            },
        },
    }
    for name in TOOLS
]


def called(call, manners: str, port: str) -> str:
    try:
        return TOOLS[call.function.name](json.loads(call.function.arguments)["query"], port)
    except OSError as error:
        return "" if manners == "careless" else f"{call.function.name} failed: {error}"


def main(manners: str, port: str, prompt: str) -> None:
    client = OpenAI()
    offered = {} if manners == "silent" else {"tools": OFFERED}
    messages = [{"role": "system", "content": SYSTEM[manners]}, {"role": "user", "content": prompt}]
    for _ in range(4):
        said = client.chat.completions.create(model="gpt-4o-mini", messages=messages, **offered)
        message = said.choices[0].message
        if not message.tool_calls:
            print(message.content)
            return
        messages.append(message.model_dump(exclude_none=True))
        messages += [
            {"role": "tool", "tool_call_id": call.id, "content": called(call, manners, port)}
            for call in message.tool_calls
        ]
    raise SystemExit("no answer")


main(*sys.argv[1:])
