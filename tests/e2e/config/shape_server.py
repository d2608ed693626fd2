"""A server with an address for each of Flakestorm's HTTP shapes; each asks a model, and one uses a tool."""

import json
import os
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, urlsplit

from shape_agent import ask, say

TOOL = {
    "type": "function",
    "function": {
        "name": "look_up",
        "description": "Look something up.",
        "parameters": {
            "type": "object",
            "properties": {"query": {"type": "string"}},
            "required": ["query"],
        },
    },
}


def research(question):
    messages = [{"role": "user", "content": question}]
    for _ in range(4):
        said = ask(messages, [TOOL])
        messages.append(said)
        if not said.get("tool_calls"):
            return said["content"]
        for call in said["tool_calls"]:
            result = "8849 m, as the survey of 2020 has it"
            messages.append({"role": "tool", "tool_call_id": call["id"], "content": result})
    return "no answer"


class Handler(BaseHTTPRequestHandler):
    def do_GET(self):
        url = urlsplit(self.path)
        if url.path == "/ready":
            self.answer({"ready": True})
        elif url.path == "/describe":
            asked = {key: values[0] for key, values in parse_qs(url.query).items()}
            text = say(f"Describe the product {asked.get('product')} ({asked.get('tone')}): a lamp")
            self.answer({"choices": [{"message": text}]})
        else:
            self.answer({"error": "no such address"}, 404)

    def do_POST(self):
        asked = json.loads(self.rfile.read(int(self.headers["content-length"] or 0)) or b"{}")
        match self.path:
            case "/invoke":
                self.answer({"output": json.dumps({"said": say(asked["input"])})})
            case "/chat":
                self.answer({"response": say(asked["input"])})
            case "/keywords":
                self.answer({"queries": say(asked["text"]).split()[-asked["limit"] :]})
            case "/research":
                self.answer({"result": research(asked["input"]), "error": None})
            case "/reset":
                self.answer({"reset": True})
            case _:
                self.answer({"error": "no such address"}, 404)

    def answer(self, said, status=200):
        body = json.dumps(said).encode()
        self.send_response(status)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *args):
        pass


ThreadingHTTPServer(("127.0.0.1", int(os.environ["AGENT_PORT"])), Handler).serve_forever()
