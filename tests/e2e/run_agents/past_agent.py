"""An agent that calls its model through the proxy, and past it where its prompt says so.

`past_agent.py PORT PROMPT` answers once; `past_agent.py PORT --serve AT` is a server. A prompt with `past` in
it makes it hold a connection of its own to 127.0.0.1:PORT while the model works.
"""

from __future__ import annotations

import json
import socket
import sys
import urllib.request
from contextlib import closing, nullcontext
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

PORT = int(sys.argv[1])


def ask(prompt: str) -> str:
    past = "past" in prompt
    body = {"model": "gpt-4o-mini", "messages": [{"role": "user", "content": prompt}]}
    headers = {"content-type": "application/json", "authorization": "Bearer k"}
    request = urllib.request.Request(
        "https://api.openai.com/v1/chat/completions", json.dumps(body).encode(), headers
    )
    held = closing(socket.create_connection(("127.0.0.1", PORT))) if past else nullcontext()
    with held, urllib.request.urlopen(request) as answer:
        return str(json.load(answer)["choices"][0]["message"]["content"])


class Handler(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        self.answer("ready")

    def do_POST(self) -> None:
        told = json.loads(self.rfile.read(int(self.headers["content-length"])))
        self.answer(ask(told["input"]))

    def answer(self, text: str) -> None:
        body = json.dumps({"output": text}).encode()
        self.send_response(200)
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_arguments: object) -> None:
        """Say nothing."""


if sys.argv[2] == "--serve":
    ThreadingHTTPServer(("127.0.0.1", int(sys.argv[3])), Handler).serve_forever()
else:
    print(ask(sys.argv[2]))
