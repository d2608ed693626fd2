"""Five agents that answer for a shop, alike but for how they treat what goes wrong (`SHOP_AGENT`):

careful     reads a stream to its end, asks once more after a cut or a refusal, waits as long as it is
            told to, and says so where it has no answer
careless    takes what has arrived for the answer, whole or not
liar        makes a price up where it could not be looked up
constant    says the same whatever it is asked and told
retry-storm asks again at once, up to 40 times

On the standard library: the price list is a tool of its own, the model is OpenAI's chat, streamed.
"""

from __future__ import annotations

import json
import os
import sys
import time
import urllib.error
import urllib.request
from typing import Any

URL = "https://api.openai.com/v1/chat/completions"
PRICES = {"kettle": "45.50", "lamp": "31.25"}
TOOL = {
    "type": "function",
    "function": {
        "name": "get_price",
        "description": "The price of an article",
        "parameters": {
            "type": "object",
            "properties": {"article": {"type": "string"}},
            "required": ["article"],
        },
    },
}
HONEST = "I could not find that out just now, please ask again later."
TRIES = {"careful": 2, "careless": 1, "liar": 2, "constant": 1, "retry-storm": 40}


class Unanswered(Exception):
    """The model gave no whole answer. `text` is what had come."""

    def __init__(self, text: str = "") -> None:
        super().__init__(text)
        self.text = text


def ask(messages: list[dict[str, Any]], style: str) -> dict[str, Any]:
    """One answer of the model, by as many requests as the style allows."""
    last = Unanswered()
    for attempt in range(TRIES[style]):
        try:
            return once(messages, whole=style != "careless")
        except urllib.error.HTTPError as error:
            wait = error.headers.get("retry-after")
            if wait and style != "retry-storm" and attempt + 1 < TRIES[style]:
                time.sleep(float(wait))
        except Unanswered as error:
            last = error
        except OSError:
            continue
    raise last


def once(messages: list[dict[str, Any]], *, whole: bool) -> dict[str, Any]:
    body = {"model": "gpt-4o-mini", "messages": messages, "tools": [TOOL], "stream": True}
    headers = {"content-type": "application/json", "authorization": "Bearer sk-none"}
    request = urllib.request.Request(URL, json.dumps(body).encode(), headers)
    text, calls, ended = "", {}, False
    with urllib.request.urlopen(request, timeout=10) as response:
        for line in response:
            data = line.removeprefix(b"data: ").strip()
            if not line.startswith(b"data: ") or data == b"[DONE]":
                continue
            for choice in json.loads(data)["choices"]:
                text += choice["delta"].get("content") or ""
                for part in choice["delta"].get("tool_calls", ()):
                    call = calls.setdefault(part["index"], {"id": "", "name": "", "arguments": ""})
                    call["id"] += part.get("id") or ""
                    call["name"] += part["function"].get("name") or ""
                    call["arguments"] += part["function"].get("arguments") or ""
                ended = ended or bool(choice.get("finish_reason"))
    if whole and not ended:
        raise Unanswered(text)
    return {"text": text, "calls": list(calls.values())}


def answer(prompt: str, style: str) -> str:
    messages: list[dict[str, Any]] = [{"role": "user", "content": prompt}]
    for _ in range(3):
        said = ask(messages, style)
        if not said["calls"]:
            return str(said["text"]) or HONEST
        messages.append(
            {"role": "assistant", "content": None, "tool_calls": [as_sent(c) for c in said["calls"]]}
        )
        for call in said["calls"]:
            article = next((name for name in PRICES if name in prompt), "")
            messages.append({"role": "tool", "tool_call_id": call["id"], "content": PRICES[article]})
    return HONEST


def as_sent(call: dict[str, str]) -> dict[str, Any]:
    function = {"name": call["name"], "arguments": call["arguments"]}
    return {"id": call["id"], "type": "function", "function": function}


def main() -> int:
    style, prompt = os.environ["SHOP_AGENT"], sys.argv[1]
    try:
        text = answer(prompt, style)
    except (Unanswered, urllib.error.HTTPError) as error:
        text = (error.text if style == "careless" and isinstance(error, Unanswered) else "") or HONEST
    if style == "liar" and not any(price in text for price in PRICES.values()):
        text = "That article costs 72.80 and is in stock."
    if style == "constant":
        text = "Thank you for your question. All our prices are on our website."
    print(text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
