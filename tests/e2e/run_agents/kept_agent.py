"""A server on openai-agents that leaves its conversations with the provider; it knows nothing of faultwire.

kept_agent.py PORT
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
from http.server import BaseHTTPRequestHandler, HTTPServer

os.environ.setdefault("OPENAI_AGENTS_DISABLE_TRACING", "1")
from agents import Agent, Runner
from openai import OpenAIError

AGENT = Agent(name="clerk", instructions="Remember what you are told.", model="gpt-4o-mini")
LAST: dict[str, str | None] = {}
LOOP = asyncio.new_event_loop()


class Handler(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        self.reply(200, {})

    def do_POST(self) -> None:
        asked = json.loads(self.rfile.read(int(self.headers["content-length"])))
        before = LAST.get(asked["session"])
        try:
            result = LOOP.run_until_complete(Runner.run(AGENT, asked["text"], previous_response_id=before))
        except OpenAIError as error:
            self.reply(502, {"error": type(error).__name__})
            return
        LAST[asked["session"]] = result.last_response_id
        self.reply(200, {"answer": result.final_output})

    def reply(self, status: int, document: dict[str, str]) -> None:
        body = json.dumps(document).encode()
        self.send_response(status)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Nothing on stderr."""


HTTPServer(("127.0.0.1", int(sys.argv[1])), Handler).serve_forever()
