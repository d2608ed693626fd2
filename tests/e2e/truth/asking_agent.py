"""An agent on the standard library: asks its questions in turn, and ends as its manner says.

`lie` prints an answer where none came and exits 0, `report` exits 1 then. `repair` answers a tool call
whatever its arguments are, `decline` tells the model that it was not executed.
"""

import json
import sys
import urllib.error
import urllib.request

URL = "https://api.openai.com/v1/chat/completions"
HEADERS = {"Content-Type": "application/json", "Authorization": "Bearer sk-test"}
TOOL = {"type": "object", "properties": {"query": {"type": "string"}}, "required": ["query"]}
TOOLS = [{"type": "function", "function": {"name": "search", "parameters": TOOL}}]


def ask(messages, **more):
    body = json.dumps({"model": "gpt-4o-mini", "messages": messages, **more}).encode()
    with urllib.request.urlopen(urllib.request.Request(URL, body, HEADERS), timeout=20) as response:
        return json.load(response)["choices"][0]["message"]


def with_tool(manner):
    messages = [{"role": "user", "content": "search for the height of the tower"}]
    said = ask(messages, tools=TOOLS)
    call = said["tool_calls"][0]
    refusal = "ERROR: the arguments are broken, the tool was not executed"
    text = refusal if manner == "decline" else "330 m"
    told = {"role": "tool", "tool_call_id": call["id"], "content": text}
    print(ask([*messages, said, told], tools=TOOLS)["content"])


def main(manner, *questions):
    if manner in ("repair", "decline"):
        with_tool(manner)
        return
    try:
        for question in questions:
            print(ask([{"role": "user", "content": question}])["content"])
    except (urllib.error.HTTPError, ValueError):
        if manner == "report":
            sys.exit(1)
        print("Hello! (all good)")


main(*sys.argv[1:])
