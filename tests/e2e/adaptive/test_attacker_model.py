"""A model of any provider in the attacker's loop: recorded, paid from the budget, and never with its key."""

from __future__ import annotations

import json
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from tests.e2e.adaptive.test_adaptive_attack import AGENT, DEAF

from faultwire.tape.read.reader import TapeReader

KEY = "sk-proj-9f3kq0fAttackersOwn7Zx"
POLITE = """name: polite
turns:
  - match: {last_result: "*Kindly now*"}
    reply: {text: "As you wish: {last_result}"}
  - reply: {text: It is 391.}
"""
CALLS = 6


class Writer(BaseHTTPRequestHandler):
    """A chat model by script: it is polite, and forgets the canary of every third text."""

    asked: list[tuple[dict[str, Any], str]]
    status = 200

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        self.asked.append((body, self.headers.get("authorization", "")))
        text = "Kindly now: " + body["messages"][-1]["content"]
        if len(self.asked) % 3 == 0:
            text = text.replace("{canary}", "it")
        answer = {"choices": [{"message": {"content": text}}], "usage": {"total_tokens": 10}}
        data = json.dumps(answer).encode()
        self.send_response(self.status)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *_line: Any) -> None:
        return


@pytest.fixture
def writer() -> Iterator[tuple[str, type[Writer]]]:
    handler = type("Scripted", (Writer,), {"asked": []})
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}/v1", handler
        server.shutdown()


def attack(faultwire: Any, here: Path, script: str, url: str, *options: str) -> tuple[Any, dict[str, Any]]:
    (here / "agent.py").write_text(AGENT)
    (here / "s.yaml").write_text(script)
    done = faultwire(
        "attack", "-q", "--format", "json", "--script", "s.yaml", "--finds", "1", "--family", "override",
        "--family", "direct", "--family", "authority", "--model", "writer", "--model-url", url,
        "--model-key-env", "WRITER_KEY", "--model-calls", str(CALLS), *options, "--", sys.executable,
        "agent.py", env={"WRITER_KEY": KEY},
    )  # fmt: skip
    return done, json.loads(done.stdout) if done.stdout else {}


def steps(here: Path) -> list[Any]:
    path = max(here.glob(".faultwire/runs/*/search.jsonl"), key=lambda one: one.stat().st_mtime_ns)
    rows = [json.loads(line) for line in path.read_text().splitlines()]
    return [(row["phase"], row["family"], row["carrier"], row["payload"], row["stage"]) for row in rows]


def test_what_only_a_models_words_achieve_is_found_recorded_and_paid_for(
    faultwire: Any, here: Path, writer: tuple[str, type[Writer]]
) -> None:
    url, handler = writer
    done, found = attack(faultwire, here, POLITE, url, "--budget", "60", "--wording", "model")
    assert done.returncode == 1, done.stderr
    (finding,) = found["findings"]
    assert finding["wording"] == "model"
    assert finding["text"].startswith("Kindly now: ")
    assert found["model"] == {"name": "writer", "calls": CALLS, "tokens": 10 * CALLS, "kept": CALLS - 2}
    starts = len((here / "starts.txt").read_text())
    assert starts == found["runs"]
    assert len(handler.asked) == CALLS
    assert starts + CALLS <= 60
    assert {key for _, key in handler.asked} == {f"Bearer {KEY}"}
    with TapeReader.open(here / finding["tape"]) as tape:
        names = {one.name for one in tape.sessions()}
    assert {f"model-{number:04}" for number in range(1, CALLS + 1)} <= names
    kept = [path for path in here.rglob("*") if path.is_file()]
    assert not [path for path in kept if KEY.encode() in path.read_bytes()]
    assert KEY not in (done.stdout + done.stderr).decode()


def test_the_same_answers_give_the_same_search_and_are_not_asked_for_twice(
    faultwire: Any, here: Path, writer: tuple[str, type[Writer]]
) -> None:
    url, handler = writer
    options = ("--budget", "40", "--wording", "model", "--wording", "plain")
    attack(faultwire, here, POLITE, url, *options)
    first, requests = steps(here), [body for body, _ in handler.asked]
    attack(faultwire, here, POLITE, url, *options)
    assert len(handler.asked) == CALLS, "the state file has its answers"
    assert steps(here) == first
    handler.asked.clear()
    attack(faultwire, here, POLITE, url, *options, "--state", "other.jsonl")
    assert [body for body, _ in handler.asked] == requests
    assert steps(here) == first


def test_its_calls_are_of_the_budget_and_a_search_never_takes_more(
    faultwire: Any, here: Path, writer: tuple[str, type[Writer]]
) -> None:
    url, handler = writer
    done, found = attack(faultwire, here, DEAF, url, "--budget", "26", "--wording", "plain")
    assert done.returncode == 0, done.stderr
    assert found["ended"] == "budget"
    assert len((here / "starts.txt").read_text()) + len(handler.asked) <= 26
    done = faultwire(
        "attack", "-q", "--format", "json", "--script", "s.yaml", "--finds", "1", "--family", "override",
        "--family", "direct", "--family", "authority", "--wording", "plain", "--budget", str(26 - CALLS),
        "--", sys.executable, "agent.py",
    )  # fmt: skip
    assert json.loads(done.stdout)["runs"] == found["runs"], "each call is one run less"
    done, _ = attack(faultwire, here, DEAF, url, "--budget", "18")
    assert done.returncode == 2
    assert b"expected at least 19: one run without an attack" in done.stderr
    assert b"and 6 calls of the model" in done.stderr


def test_an_endpoint_that_fails_ends_the_search_and_is_named(
    faultwire: Any, here: Path, writer: tuple[str, type[Writer]]
) -> None:
    url, handler = writer
    handler.status = 429
    done, _ = attack(faultwire, here, DEAF, url, "--budget", "40")
    assert done.returncode == 3
    assert b"attack.model: the attacker's model `writer` at 127.0.0.1:" in done.stderr
    assert b"failed: status 429" in done.stderr
    assert KEY.encode() not in done.stderr
    assert len(handler.asked) == 1
    done, _ = attack(faultwire, here, DEAF, "https://models.example/v1", "--budget", "40")
    assert done.returncode == 2
    assert b"attack.model_mocked: found `--model` at models.example in a search whose models" in done.stderr
    done, _ = attack(faultwire, here, DEAF, "models", "--budget", "40")
    assert done.returncode == 2
    assert b"found a `--model-url` that is no URL" in done.stderr


def test_without_the_option_no_model_is_asked(
    faultwire: Any, here: Path, writer: tuple[str, type[Writer]]
) -> None:
    (here / "agent.py").write_text(AGENT)
    (here / "s.yaml").write_text(DEAF)
    options = ("--script", "s.yaml", "--family", "override", "--wording", "plain", "--budget", "20")
    done = faultwire(
        "attack", "-q", *options, "--model-url", writer[0], "--", sys.executable, "agent.py"
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert b"the attacker's model" not in done.stdout
    assert writer[1].asked == []
    done = faultwire("attack", "-q", *options, "--wording", "model", "--", sys.executable, "agent.py")
    assert done.returncode == 2
    assert b"found wording `model`" in done.stderr
