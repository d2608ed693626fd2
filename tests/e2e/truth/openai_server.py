"""An agent on the official openai SDK that is a server: POST {"input": …} gives {"output": …}.

openai_server.py PORT
"""

import json
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from openai import OpenAI

client = OpenAI()


class Agent(BaseHTTPRequestHandler):
    def do_GET(self):
        self.reply({"ready": True})

    def do_POST(self):
        asked = json.loads(self.rfile.read(int(self.headers["content-length"])))
        messages = [{"role": "user", "content": asked["input"]}]
        answer = client.chat.completions.create(model="gpt-4o-mini", messages=messages)
        self.reply({"output": answer.choices[0].message.content, "id": answer.id})

    def reply(self, document):
        body = json.dumps(document).encode()
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_arguments):
        pass


ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1])), Agent).serve_forever()
