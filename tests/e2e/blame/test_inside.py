"""Which field or stream event of an answer it was, and what real servers answer: a local server."""

from __future__ import annotations

import json
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from tests.e2e.blame.test_blame import result
from tests.e2e.shrink.test_shrink import LIMIT_S, faultwire

AGENT = """import http.client, json, sys, urllib.request
base, asked, judged = sys.argv[1], sys.argv[2], sys.argv[3]
texts = {}
for path in asked.split(","):
    try:
        texts[path] = urllib.request.urlopen(f"{base}/{path}").read().decode()
    except http.client.IncompleteRead as error:
        texts[path] = error.partial.decode()
    except OSError:
        texts[path] = "{}"
lines = texts.get("stream", "").splitlines()
words = [json.loads(line[6:])["word"] for line in lines if line.startswith("data: ")]
weather = json.loads(texts.get("weather", "{}"))
print(weather, words)
sys.exit(bool(eval(judged)))
"""
WEATHER = [
    {"city": "Oslo", "unit": unit, "degrees": degrees, "station": station}
    for unit, degrees, station in (("C", 10, "a"), ("F", 50, "b"))
]
WORDS = [["one", "two", "go", "four", "five"], ["one", "two", "stop", "four", "six"]]


class Local:
    """A server on the loopback interface that answers well or badly, and counts what it is asked."""

    def __init__(self) -> None:
        self.bad = False
        self.asked = 0
        local = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                local.asked += 1
                kind, body = local.answer(self.path)
                self.send_response(200)
                self.send_header("content-type", kind)
                self.send_header("content-length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_: Any) -> None:
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_address[1]}"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def answer(self, path: str) -> tuple[str, bytes]:
        if path == "/stream":
            events = (b"data: " + json.dumps({"word": word}).encode() + b"\n\n" for word in WORDS[self.bad])
            return "text/event-stream", b"".join(events)
        return "application/json", json.dumps(WEATHER[self.bad] if path == "/weather" else {"n": 1}).encode()


@pytest.fixture
def local(tmp_path: Path) -> Iterator[Local]:
    (tmp_path / "agent.py").write_text(AGENT)
    made = Local()
    yield made
    made.server.shutdown()
    made.server.server_close()


def recorded(work: Path, local: Local, agent: list[str], *more: str) -> int:
    return faultwire(work, "exec", "-q", "--allow-host", "127.0.0.1", *more, "--", *agent).returncode


def two_tapes(work: Path, local: Local, agent: list[str]) -> dict[str, Any]:
    """Record a failed and a calm run, and blame, offline."""
    for local.bad, name in ((True, "failed"), (False, "calm")):
        assert recorded(work, local, agent, "--record", name) == int(local.bad)
    asked = local.asked
    done = faultwire(work, "blame", "failed", "--calm", "calm", "-o", "result", "--", *agent)
    assert done.returncode == 0, done.stderr
    assert local.asked == asked, "offline, no server is asked"
    return result(work)


@pytest.mark.nightly
@pytest.mark.timeout(LIMIT_S)
@pytest.mark.parametrize(
    ("asked", "judged", "names"),
    [
        ("weather", "weather['unit'] == 'F'", ["$.unit"]),
        ("weather", "weather['unit'] == 'F' and weather['degrees'] == 50", ["$.degrees", "$.unit"]),
        ("stream", "'stop' in words", ["event 3"]),
    ],
)
def test_the_field_or_event_of_a_blamed_answer(
    asked: str, judged: str, names: list[str], tmp_path: Path, local: Local
) -> None:
    found = two_tapes(tmp_path, local, [sys.executable, "agent.py", local.url, asked, judged])
    (part,) = (found["parts"][at] for at in found["blamed"])
    assert sorted(name for piece in part["inside"]["pieces"] for name in piece["names"]) == names
    verdict = "needed" if len(names) > 1 else "cause"
    assert {piece["verdict"] for piece in part["inside"]["pieces"]} == {verdict}
    page = (tmp_path / "result" / "blame.html").read_text()
    assert all(name in page for name in names)


FAULT = (
    "--fault",
    "status: {code: 503, on: {path: /weather}}",
    "--fault",
    "status: {code: 503, on: {path: /other}}",
)


@pytest.mark.nightly
@pytest.mark.timeout(LIMIT_S)
def test_live_servers_answer_what_no_tape_holds(tmp_path: Path, local: Local) -> None:
    agent = [sys.executable, "agent.py", local.url, "stream,weather,other", "'unit' not in weather"]
    assert recorded(tmp_path, local, agent, *FAULT) == 1
    offline = faultwire(tmp_path, "blame", "last", *FAULT, "--", *agent)
    assert offline.returncode == 2, offline.stderr
    assert "needs --mock or --live" in offline.stderr
    asked = local.asked
    live = ("blame", "last", "--live", "--allow-host", "127.0.0.1", *FAULT, "-o", "result", "--", *agent)
    done = faultwire(tmp_path, *live)
    assert done.returncode == 0, done.stderr
    assert "5 dollars" in done.stderr
    found = result(tmp_path)
    assert [found["parts"][at]["label"] for at in found["blamed"]] == ["status on its call 1"]
    assert found["needs"] is None
    assert local.asked > asked
    (part,) = (found["parts"][at] for at in found["blamed"])
    note = "the fault took the place of the server's answer"
    assert part["inside"] == {"places": 0, "note": note, "pieces": []}


@pytest.mark.nightly
@pytest.mark.timeout(LIMIT_S)
def test_live_servers_that_are_gone_blame_nothing(tmp_path: Path, local: Local) -> None:
    """The negative control: that the calm run fails because no server is there says nothing of the agent."""
    agent = [sys.executable, "agent.py", local.url, "stream,weather,other", "'unit' not in weather"]
    assert recorded(tmp_path, local, agent, *FAULT) == 1
    local.server.shutdown()
    local.server.server_close()
    done = faultwire(tmp_path, "blame", "last", "--live", "--allow-host", "127.0.0.1", *FAULT, "--", *agent)
    assert done.returncode == 3, (done.stdout, done.stderr)
    assert "servers did not answer: 127.0.0.1" in done.stderr
    assert "makes the failure" not in done.stdout
