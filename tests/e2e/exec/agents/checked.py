"""An agent that meets every kind of trouble once, in the words of plain HTTP."""

from __future__ import annotations

import contextlib
import http.client
import json
import sys
import time
import urllib.error
import urllib.request

URL = "https://api.openai.com/v1/chat/completions"
CALL = {"id": "call_1", "type": "function", "function": {"name": "search", "arguments": '{"q": "17*23"}'}}
USER = {"role": "user", "content": "What is 17 times 23?"}


def post(model: str, messages: list[dict], *, stream: bool = False) -> int:
    body = json.dumps({"model": model, "messages": messages, "stream": stream}).encode()
    headers = {"content-type": "application/json", "authorization": "Bearer any"}
    request = urllib.request.Request(URL, body, headers)
    try:
        with urllib.request.urlopen(request, timeout=20) as response:
            response.read()
            return response.status
    except urllib.error.HTTPError as error:
        error.read()
        return error.code


def main() -> None:
    for model in ("limited", "down"):
        while post(model, [USER]) >= 400:
            time.sleep(1.2)  # longer than the server asks for
    post("wrong", [USER])
    with contextlib.suppress(OSError, http.client.HTTPException):
        post("cut", [USER], stream=True)
    told = [USER, {"role": "assistant", "content": None, "tool_calls": [CALL]}]
    post("gpt-4o", [*told, {"role": "tool", "tool_call_id": "call_1", "content": "391"}])
    with urllib.request.urlopen(sys.argv[1], timeout=20) as response:
        response.read()
    print('{"answer": 391}')


main()
