"""A disk that hangs, under a run that a user started: `--record-policy drop` holds nobody and says what
is missing; `block`, the control, holds everybody and misses nothing."""

from __future__ import annotations

import json
import os
import sqlite3
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import closing
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from disk import shim

COUNT = 110
"""Answers of a megabyte that nothing can compress: 16 MB of them may wait for the disk."""
MEGABYTE = os.urandom(1_000_000)

AGENT = """
import sys, threading, urllib.request
from pathlib import Path

url, gate, count = sys.argv[1], Path(sys.argv[2]), int(sys.argv[3])
done, progress = [], threading.Event()

def work():
    for number in range(1, count + 1):
        with urllib.request.urlopen(f"{url}{number}") as answer:
            done.append(len(answer.read()))
        progress.set()

gate.touch()  # from here on the disk hangs
worker = threading.Thread(target=work)
worker.start()
held = None
while worker.is_alive():
    if not progress.wait(6) and worker.is_alive() and held is None:
        held = len(done)
        gate.unlink()
    progress.clear()
    worker.join(0.01)
if held is None:
    gate.unlink()
print(len(done), sum(done), held)
"""


class Answering(BaseHTTPRequestHandler):
    """Answers every GET with a megabyte of its own."""

    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        body = self.path.encode().rjust(24) + MEGABYTE
        self.send_response(200)
        self.send_header("content-type", "application/octet-stream")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Say nothing."""


@pytest.fixture
def upstream() -> Iterator[str]:
    with ThreadingHTTPServer(("127.0.0.1", 0), Answering) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True)
        thread.start()
        yield f"http://localhost:{server.server_port}/"
        server.shutdown()
        thread.join()


def faultwire(here: Path, *arguments: str, **env: str) -> subprocess.CompletedProcess[str]:
    kept = {name: value for name, value in os.environ.items() if not name.lower().endswith("_proxy")}
    return subprocess.run(
        [sys.executable, "-m", "faultwire", *arguments],
        cwd=here,
        env={**kept, **env},
        capture_output=True,
        text=True,
        timeout=240,
    )


class Ran:
    """One run on a disk that hangs until the agent has its answers, or has waited for one too long."""

    def __init__(self, here: Path, url: str, policy: str) -> None:
        (here / "disk").mkdir(mode=0o700)
        self.tape = here / "disk" / "t.tape"
        gate = here / "gate"
        (here / "agent.py").write_text(AGENT)
        done = faultwire(
            here,
            *("exec", "--allow-host", "localhost", "--record", str(self.tape), "--record-policy", policy),
            *("--", sys.executable, "agent.py", url, str(gate), str(COUNT)),
            LD_PRELOAD=str(shim()),
            DISK_FOLDER=str(here / "disk"),
            DISK_GATE=str(gate),
        )
        assert done.returncode == 0, done.stderr
        self.said = done.stderr
        answers, size, held = done.stdout.split()
        assert (int(answers), int(size)) == (COUNT, COUNT * (24 + len(MEGABYTE)))
        self.held = None if held == "None" else int(held)
        (run,) = (here / ".faultwire" / "runs").iterdir()
        self.about: dict[str, Any] = json.loads((run / "run.json").read_text())
        lines = map(json.loads, (run / "events.jsonl").read_text().splitlines())
        self.acknowledged = {line["exchange"] for line in lines if line["type"] == "acknowledged"}
        verified = faultwire(here, "tape", "verify", str(self.tape), "--format", "json")
        assert verified.returncode == 0, verified.stdout
        (self.report,) = json.loads(verified.stdout)

    def dropped(self) -> set[int]:
        with closing(sqlite3.connect(f"file:{self.tape}?mode=ro", uri=True)) as rows:
            events = [json.loads(record) for (record,) in rows.execute("SELECT record FROM events")]
        return {event["exchange"] for event in events if event["type"] == "drop"}


@pytest.mark.nightly
def test_drop_holds_nobody_and_states_what_is_missing(tmp_path: Path, upstream: str) -> None:
    ran = Ran(tmp_path, upstream, "drop")
    assert ran.held is None
    dropped = ran.dropped()
    assert COUNT - 60 <= len(dropped) <= COUNT - 12
    assert ran.acknowledged == set(range(1, COUNT + 1)) - dropped
    why = f"the tape is incomplete: its writer was behind, and drops {len(dropped)} exchanges"
    assert why in ran.said
    assert why in json.dumps(ran.about)
    assert ran.report["class"] == "PARTIAL"
    codes = {finding["code"] for finding in ran.report["findings"]}
    assert "drop_present" in codes <= {"drop_present", "exchange_open"}  # one found room for its beginning
    assert any("the writer was behind" in reason for reason in ran.report["reasons"])


@pytest.mark.nightly
def test_block_holds_everybody_and_misses_nothing(tmp_path: Path, upstream: str) -> None:
    ran = Ran(tmp_path, upstream, "block")
    assert ran.held is not None
    assert 12 <= ran.held < 60
    assert ran.dropped() == set()
    assert ran.acknowledged == set(range(1, COUNT + 1))
    assert "incomplete" not in ran.said
    assert (ran.report["class"], ran.report["reasons"]) == ("AUTHORITATIVE", [])
