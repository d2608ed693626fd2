"""An assistant with a memory, as a server on the official OpenAI SDK; it knows nothing of faultwire.

remembering_agent.py PORT FOLDER MEMORY     MEMORY: files (one for each session), process (a dict), shared
                                            (one list for all), stale (each seventh begins with another's),
                                            once (and it starts only once)
"""

from __future__ import annotations

import json
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from openai import OpenAI

PORT, FOLDER, MEMORY = int(sys.argv[1]), Path(sys.argv[2]), sys.argv[3]
KEPT: dict[str, list[dict[str, Any]]] = {}
if MEMORY == "once":  # a server that does not come up a second time
    (FOLDER / "started").touch(exist_ok=False)
client = OpenAI(max_retries=0)


def recall(session: str) -> list[dict[str, Any]]:
    if MEMORY == "files":
        path = FOLDER / f"{session}.json"
        return json.loads(path.read_text()) if path.exists() else []
    if MEMORY == "stale" and session not in KEPT and len(KEPT) % 7 == 6:
        return list(next(reversed(KEPT.values())))
    return KEPT.setdefault("everybody" if MEMORY == "shared" else session, [])


def store(session: str, messages: list[dict[str, Any]]) -> None:
    if MEMORY == "files":
        (FOLDER / f"{session}.json").write_text(json.dumps(messages))
    KEPT["everybody" if MEMORY == "shared" else session] = messages


class Handler(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        self.reply({})

    def do_POST(self) -> None:
        asked = json.loads(self.rfile.read(int(self.headers["content-length"])))
        messages = [*recall(asked["session"]), {"role": "user", "content": asked["text"]}]
        answer = client.chat.completions.create(model="gpt-4o-mini", messages=messages)
        said = answer.choices[0].message.content
        store(asked["session"], [*messages, {"role": "assistant", "content": said}])
        self.reply({"answer": f"{said} ({len(messages)} messages)"})

    def reply(self, document: dict[str, Any]) -> None:
        body = json.dumps(document).encode()
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Nothing on stderr."""


ThreadingHTTPServer(("127.0.0.1", PORT), Handler).serve_forever()
