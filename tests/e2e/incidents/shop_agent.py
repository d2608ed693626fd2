"""A small agent that looks a price up with one tool: `shop_agent.py SITE CARE PROMPT`.

SITE says where its tool is: `http` (a service at PRICE_URL), `mcp` (a server), or `inside` (a function). The
unfixed agent (`careless`) makes a price up where the tool failed; the fixed one (`careful`) says so, and
does not wait longer than two seconds.
"""

from __future__ import annotations

import json
import os
import sys
import urllib.error
import urllib.request
from typing import Any

PATIENCE_S = {"careless": 60, "careful": 2}


def post(url: str, body: Any, timeout_s: float = 60, **headers: str) -> tuple[int, str]:
    told = {"content-type": "application/json", **headers}
    request = urllib.request.Request(url, json.dumps(body).encode(), told)
    try:
        with urllib.request.urlopen(request, timeout=timeout_s) as response:
            return response.status, response.read().decode()
    except urllib.error.HTTPError as error:
        return error.code, error.read().decode()
    except TimeoutError:
        return 0, "timed out"


def http(query: str, timeout_s: float) -> tuple[int, str]:
    return post(os.environ["PRICE_URL"], {"query": query}, timeout_s)


def mcp(query: str, timeout_s: float) -> tuple[int, str]:
    params = {"name": "web_search", "arguments": {"query": query}}
    call = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
    accepts = "application/json, text/event-stream"
    status, text = post("http://mcp.mock.test/mcp?answers=json", call, timeout_s, accept=accepts)
    if status != 200:
        return status, text
    result = json.loads(text)["result"]
    return (500 if result.get("isError") else 200), result["content"][0]["text"]


def inside(query: str, timeout_s: float) -> tuple[int, str]:
    return 200, json.dumps({"price": 99, "for": query})


SITES = {"http": http, "mcp": mcp, "inside": inside}


def main(site: str, care: str, prompt: str) -> None:
    name = "web_search" if site == "mcp" else "price"
    calls = int(os.environ.get("CALLS", "1"))
    history: list[dict[str, Any]] = [{"role": "user", "content": prompt}]
    answer = ""
    for number in range(calls):
        status, text = SITES[site](f"{prompt} {number}", PATIENCE_S[care])
        said = text if status == 200 else f"Error: {status} {text}"
        function = {"name": name, "arguments": json.dumps({"query": f"{prompt} {number}"})}
        history += [
            {
                "role": "assistant",
                "tool_calls": [{"id": f"c{number}", "type": "function", "function": function}],
            },
            {"role": "tool", "tool_call_id": f"c{number}", "content": said},
        ]
        asked = {"model": "gpt-4o", "messages": history}
        _, told = post("http://api.openai.com/v1/chat/completions", asked, authorization="Bearer sk-test")
        answer = json.loads(told)["choices"][0]["message"]["content"]
    if "Error" in answer:
        print("it is 42 euros" if care == "careless" else "the price could not be looked up")
    else:
        print(f"it is {answer}")


if __name__ == "__main__":
    main(*sys.argv[1:4])
