"""Asks once for each case with curl, whole and streamed, and prints what came as one JSON line per case.

fault_cases.py CURL NAME...
"""

import json
import subprocess
import sys

CITY = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
TOOL = {"type": "function", "function": {"name": "look_up", "description": "Looks up", "parameters": CITY}}
URL = "https://api.openai.com/v1/chat/completions"
curl, *names = sys.argv[1:]
for name in names:
    for stream in (False, True):
        said = {"role": "user", "content": f"case {name}. Tell me about the 12 rivers of the north."}
        asked = {"model": "gpt-4o-mini", "messages": [said], "stream": stream}
        body = json.dumps(asked | ({"tools": [TOOL]} if "tool" in name else {}))
        done = subprocess.run(
            [
                *(curl, "--silent", "--show-error", "--max-time", "20", "--write-out", "\n%{http_code}"),
                *("-H", "content-type: application/json", "-H", "authorization: Bearer sk-test-of-nobody"),
                *("-d", body, URL),
            ],
            capture_output=True,
        )  # fmt: skip
        met = {"name": name, "stream": stream, "code": done.returncode, "body": done.stdout.decode("latin-1")}
        print(json.dumps(met), flush=True)
