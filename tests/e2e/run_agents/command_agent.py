"""Somebody's agent: a command that asks its model once, with nothing but the standard library."""

import json
import sys
import urllib.error
import urllib.request

prompt = sys.argv[1]
body = json.dumps({"model": "gpt-4o-mini", "messages": [{"role": "user", "content": prompt}]}).encode()
request = urllib.request.Request(
    "https://api.openai.com/v1/chat/completions",
    body,
    {"content-type": "application/json", "authorization": "Bearer k"},
)
try:
    with urllib.request.urlopen(request) as response:
        print(response.status, json.load(response)["choices"][0]["message"]["content"])
except urllib.error.HTTPError as error:
    print(error.code, error.reason)
