"""A server that speaks LangSmith's API as its client calls it: /info, /sessions, /runs/ID and /runs/query.

It filters runs itself, as LangSmith does, so that a wrong filter gives the wrong runs.
"""

from __future__ import annotations

import json
import re
import threading
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlsplit

KEY = "lsv2_pt_key_of_nobody"
BEGAN = datetime(2026, 11, 20, 10, 0, tzinfo=UTC)
PROJECT = uuid.UUID(int=7)
Document = dict[str, Any]


def ident(number: int) -> str:
    return str(uuid.UUID(int=number))


class Runs:
    """The runs of one project."""

    def __init__(self) -> None:
        self.all: list[Document] = []

    def add(
        self, number: int, inputs: Any, *, name: str = "agent", kind: str = "chain", outputs: Any = None,
        error: str | None = None, parent: int | None = None, seconds: float = 1.0, at: datetime = BEGAN,
    ) -> str:  # fmt: skip
        began = at + timedelta(milliseconds=number)
        mine = f"{began:%Y%m%dT%H%M%S%f}Z{ident(number)}"
        above = next((run for run in self.all if run["id"] == ident(parent)), None) if parent else None
        self.all.append(
            {
                "id": ident(number), "name": name, "run_type": kind, "inputs": inputs, "outputs": outputs,
                "error": error, "start_time": began.isoformat(),
                "end_time": (began + timedelta(seconds=seconds)).isoformat(),
                "trace_id": above["trace_id"] if above else ident(number),
                "dotted_order": f"{above['dotted_order']}.{mine}" if above else mine,
                "parent_run_id": ident(parent) if parent else None, "session_id": str(PROJECT),
                "status": "error" if error else "success", "extra": {}, "tags": [], "events": [],
            }
        )  # fmt: skip
        return ident(number)

    def query(self, asked: Document) -> list[Document]:
        found = [run for run in self.all if self._takes(run, asked)]
        found.sort(key=lambda run: run["start_time"], reverse=True)
        return found

    def _takes(self, run: Document, asked: Document) -> bool:
        if asked.get("session") and str(PROJECT) not in asked["session"]:
            return False
        if "is_root" in asked and (run["parent_run_id"] is None) != asked["is_root"]:
            return False
        if "trace" in asked and run["trace_id"] != asked["trace"]:
            return False
        if "error" in asked and bool(run["error"]) != asked["error"]:
            return False
        if "start_time" in asked and run["start_time"] < asked["start_time"]:
            return False
        if asked.get("tree_filter") == "neq(error, null)":
            tree = [other for other in self.all if other["trace_id"] == run["trace_id"]]
            if not any(other["error"] for other in tree):
                return False
        least = re.fullmatch(r"gte\(latency, ([0-9.]+)\)", asked.get("filter", "gte(latency, 0)"))
        assert least is not None, "a filter that this server does not know"
        took = datetime.fromisoformat(run["end_time"]) - datetime.fromisoformat(run["start_time"])
        return took.total_seconds() >= float(least[1])


@contextmanager
def serving(runs: Runs) -> Iterator[tuple[str, list[tuple[str, Any]]]]:
    """The server's address, and everything that it was asked."""
    heard: list[tuple[str, Any]] = []

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            parts = urlsplit(self.path)
            heard.append((parts.path, parse_qs(parts.query)))
            if parts.path == "/info":
                self.say(200, {"version": "0.1", "instance_flags": {}, "batch_ingest_config": None})
            elif self.headers.get("x-api-key") != KEY:
                self.say(401, {"detail": "Invalid token"})
            elif parts.path == "/sessions":
                known = parse_qs(parts.query).get("name") == ["shop"]
                one = {
                    "id": str(PROJECT),
                    "name": "shop",
                    "start_time": BEGAN.isoformat(),
                    "tenant_id": ident(1),
                    "reference_dataset_id": None,
                }
                self.say(200, [one] if known else [])
            elif parts.path.startswith("/runs/"):
                wanted = parts.path.removeprefix("/runs/")
                run = next((run for run in runs.all if run["id"] == wanted), None)
                self.say(200, run) if run else self.say(404, {"detail": "Run not found"})
            else:
                self.say(404, {"detail": "Not Found"})

        def do_POST(self) -> None:
            asked = json.loads(self.rfile.read(int(self.headers["content-length"])))
            heard.append((self.path, asked))
            if self.headers.get("x-api-key") != KEY:
                self.say(401, {"detail": "Invalid token"})
                return
            found, first = runs.query(asked), int(asked.get("cursor") or 0)
            page = found[first : first + min(asked.get("limit", 100), 3)]  # several pages even of a few runs
            more = str(first + len(page)) if first + len(page) < len(found) else None
            self.say(200, {"runs": page, "cursors": {"next": more}})

        def say(self, status: int, document: Any) -> None:
            body = json.dumps(document).encode()
            self.send_response(status)
            self.send_header("content-type", "application/json")
            self.send_header("content-length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}", heard
        server.shutdown()
        thread.join()
