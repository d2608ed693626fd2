"""Many clients in one process: each session makes its calls one after the other on a connection of its own.

`named_clients.py PLAN.json`: `{"verify", "calls", "clients": [{"session", "proxy", "url"}]}`. Prints
the statuses of each session as JSON.
"""

from __future__ import annotations

import json
import ssl
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import httpx


def asked(plan: dict[str, Any], one: dict[str, Any]) -> list[int]:
    verify = ssl.create_default_context(cafile=plan["verify"])
    with httpx.Client(proxy=one["proxy"], verify=verify, trust_env=False, timeout=60) as client:
        body = {"model": "gpt-4o-mini", "messages": [{"role": "user", "content": "Hello"}]}
        headers = {"authorization": "Bearer any"}
        return [client.post(one["url"], json=body, headers=headers).status_code for _ in range(plan["calls"])]


plan = json.loads(Path(sys.argv[1]).read_text())
with ThreadPoolExecutor(len(plan["clients"])) as pool:
    found = list(pool.map(lambda one: asked(plan, one), plan["clients"]))
print(json.dumps({one["session"]: statuses for one, statuses in zip(plan["clients"], found, strict=True)}))
