"""An agent on the standard library: it asks the model, calls its tools, and says what it met.

`agent.py PROMPT` answers once, `agent.py serve PORT` is a server, `agent:ask` is a function. TOOLS holds the
URL that its tools are below.
"""

import json
import os
import sys
import urllib.error
import urllib.request
from http.server import BaseHTTPRequestHandler, HTTPServer

SEEN: list[str] = []


def called(url: str, body: bytes | None = None) -> tuple[int | str, str]:
    request = urllib.request.Request(
        url, body, {"content-type": "application/json", "authorization": "Bearer sk-nobody"}
    )
    try:
        with urllib.request.urlopen(request, timeout=30) as answer:
            return answer.status, answer.read().decode()
    except urllib.error.HTTPError as error:
        return error.code, error.read().decode()
    except OSError as error:
        return type(error).__name__, ""


def ask(prompt: str) -> str:
    SEEN.append(prompt)
    body = json.dumps({"model": "m", "messages": [{"role": "user", "content": prompt}]}).encode()
    status, text = called("http://api.openai.com/v1/chat/completions", body)
    said = json.loads(text)["choices"][0]["message"]["content"] if status == 200 else status
    tools = {name: called(f"{os.environ['TOOLS']}/{name}")[0] for name in ("find", "other")}
    again = called(f"{os.environ['TOOLS']}/find")[0]
    return f"ANSWER model={said!r} find={tools['find']} again={again} other={tools['other']} END"


class Server(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        self.told({"ready": True, "seen": SEEN})

    def do_POST(self) -> None:
        data = self.rfile.read(int(self.headers.get("content-length") or 0))
        if self.path == "/reset":
            with open("resets.txt", "a") as file:
                file.write(f"{self.headers.get('x-team')}\n")
            self.told({}, 500 if os.environ.get("RESET") == "fails" else 200)
        else:
            self.told({"answer": ask(json.loads(data)["q"]), "error": None})

    def told(self, value: dict[str, object], status: int = 200) -> None:
        body = json.dumps(value).encode()
        self.send_response(status)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        pass


if __name__ == "__main__":
    if sys.argv[1] == "serve":
        HTTPServer(("127.0.0.1", int(sys.argv[2])), Server).serve_forever()
    sys.stdout.write(ask(sys.argv[1]))
