"""Calls one after the other over httpx, and a line of JSON for each."""

from __future__ import annotations

import json
import ssl
import sys
from pathlib import Path

import httpx

proxy, ca, target, calls, body = sys.argv[1:6]
context = ssl.create_default_context(cafile=ca)
with httpx.Client(http2=True, proxy=proxy, verify=context, timeout=30, trust_env=False) as client:
    for _ in range(int(calls)):
        told = {"status": 0, "bytes": 0, "error": "", "protocol": ""}
        try:
            headers = {"content-type": "application/json"}
            with client.stream("POST", target, content=Path(body).read_bytes(), headers=headers) as answer:
                told["status"], told["protocol"] = answer.status_code, answer.http_version
                for piece in answer.iter_raw():
                    told["bytes"] += len(piece)
        except httpx.HTTPError as error:
            told["error"] = f"{type(error).__name__}: {error}"
        sys.stdout.write(json.dumps(told) + "\n")
