"""A small agent on the standard library: one question to the model, one answer on stdout.

TALKER=honest says so when the model could not be asked; TALKER=careless answers all the same; TALKER=dead
crashes; TALKER=mute asks nobody. TALKER_SEEN names a file that it touches when it starts, TALKER_WAIT one
for which it waits before it asks.
"""

from __future__ import annotations

import json
import os
import sys
import time
import urllib.error
import urllib.request
from pathlib import Path

URL = "https://api.openai.com/v1/chat/completions"


def ask(prompt: str) -> str:
    body = {"model": "gpt-4o-mini", "messages": [{"role": "user", "content": prompt}]}
    headers = {"content-type": "application/json", "authorization": "Bearer sk-none"}
    request = urllib.request.Request(URL, json.dumps(body).encode(), headers)
    with urllib.request.urlopen(request, timeout=20) as response:
        text: str = json.load(response)["choices"][0]["message"]["content"]
    return text


def main() -> int:
    mood = os.environ.get("TALKER", "honest")
    if seen := os.environ.get("TALKER_SEEN"):
        Path(seen).touch()
    if wait := os.environ.get("TALKER_WAIT"):
        while not Path(wait).exists():
            time.sleep(0.05)
    if mood == "dead":
        sys.exit("the talker is dead")
    if mood == "mute":
        print("I know it all")
        return 0
    try:
        print(ask(sys.argv[1]))
    except (OSError, ValueError, KeyError) as error:
        print(f"{type(error).__name__}", file=sys.stderr)
        if mood == "careless":
            print("Surely it is 42.")
        else:
            print("I could not ask the model, so I do not know.")
    return 0


if __name__ == "__main__":
    sys.exit(main())
