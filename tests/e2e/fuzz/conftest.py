"""Commands are run as `exec`'s are; a shop on this machine is the agent's tool."""

from __future__ import annotations

import json
import sys
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from tests.e2e.exec.conftest import *  # noqa: F403

ORDER = {"id": 7, "status": "shipped", "total": 39.9, "items": [{"sku": "tea", "count": 2}]}
PROFILE = "name: shop\ntools: {order: {url: '*/order/*'}, audit: {url: '*/audit/*'}}\nfaults: []\n"
HEAD = """
import json, os, sys, urllib.request as u
open("starts.txt", "a").write("x")
def get(path):
    opener = u.build_opener(u.ProxyHandler({}))
    return opener.open(os.environ["FAULTWIRE_URL_SHOP"] + path).read().decode()
"""
FINE = f"""{HEAD}
try:
    print(json.loads(get("/order/7"))["total"])
except Exception as error:
    print("refused", type(error).__name__)
"""
WEAK = f"""{HEAD}
try:
    order = json.loads(get("/order/7"))
    status, total, items = order["status"], order["total"], order["items"]
    count = items[0]["count"] if items else 0
except Exception:
    print("refused")
    sys.exit()
def charge(total):
    return total * 2 + 1
if items == []:
    os.abort()
if status is None:
    get("/audit/7")
    if isinstance(count, (int, float)) and abs(count) > 1e9:
        sys.exit(7)
print(charge(total))
"""


class Shop(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        body = json.dumps(ORDER if "order" in self.path else {"audit": "open"}).encode()
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_arguments: object) -> None:
        """Say nothing: the test asserts on what comes out."""


@pytest.fixture
def shop() -> Iterator[str]:
    with ThreadingHTTPServer(("127.0.0.1", 0), Shop) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


@pytest.fixture(autouse=True)
def patience(monkeypatch: pytest.MonkeyPatch) -> None:
    """A search starts its agent 150 times: beside other work it takes longer than one command may."""
    monkeypatch.setattr("tests.e2e.exec.conftest.TIMEOUT_S", 600)


Fuzzed = tuple[Any, dict[str, Any]]


@pytest.fixture
def fuzz(faultwire: Any, here: Path, shop: str) -> Callable[..., Fuzzed]:
    """Fuzz an agent in Python that asks the shop; what came of it, and the document."""

    def run(agent: str, *options: str) -> Fuzzed:
        (here / "agent.py").write_text(agent)
        (here / "p.yaml").write_text(PROFILE)
        done = faultwire(
            "fuzz", "-q", "--format", "json", "--profile", "p.yaml", "--reverse", f"shop={shop}", *options,
            "--", sys.executable, "agent.py",
        )  # fmt: skip
        return done, json.loads(done.stdout) if done.stdout else {}

    return run
