"""A session of many and large exchanges is judged in little memory. Measured in a process of its own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from faultwire.events import Exchange, Request, Response
from faultwire.tape.record.writer import TapeWriter

LARGE = 100_000
READ = """
import json, sys
from pathlib import Path
from faultwire.checks._registry import make
from faultwire.events import AgentResult
from faultwire.tape.read.reader import TapeReader
from dataclasses import replace

def peak():  # of this program alone: what `getrusage` says begins with the one that started it
    status = Path("/proc/self/status").read_text()
    return int(status.partition("VmHWM:")[2].split()[0]) * 1024

Path("/proc/self/clear_refs").write_text("5")
before = peak()
with TapeReader.open(sys.argv[1]) as reader:
    history = replace(reader.history("s"), agent=AgentResult("an answer", 0, 1.0))
checks = [make("completes", {}), make("output_not_empty", {}), make("no_retry_storm", {})]
verdicts = [check.verdict(history).verdict for check in checks]
bytes_read = sum(len(exchange.delivered.body) for exchange in history.exchanges)
lazy = peak() - before
held = [exchange.delivered.body for exchange in history.exchanges[:int(sys.argv[2])]]
print(json.dumps({"verdicts": verdicts, "bytes": bytes_read, "lazy": lazy, "held": peak() - before}))
"""


def fill(path: Path, count: int) -> None:
    """Record `count` exchanges whose answers nothing can pack."""
    writer = TapeWriter.create(path, origin="p/t", settings={}, key=b"k" * 32)
    writer.open_session("s", profile="calm", profile_digest="d", seed=7, agent="a")
    text = (("content-type", "text/plain"),)
    for number in range(1, count + 1):
        asked = Request("POST", "https", "h.example", 443, "/v1", text, b"question %d" % number)
        recording = writer.record(Exchange("s", number, asked, "llm"))
        recording.request(asked)
        recording.upstream_head(Response(200, "OK", text))
        recording.upstream_chunk(os.urandom(LARGE // 2).hex().encode())
        recording.end("complete")
        if number % 100 == 0:
            writer.flush()
    writer.close()
    assert writer.failed is None


@pytest.mark.timeout(1200)
@pytest.mark.parametrize("count", [500, pytest.param(10_000, marks=pytest.mark.nightly)])
def test_its_bodies_stay_on_the_tape(tmp_path: Path, count: int) -> None:
    path = tmp_path / "t.tape"
    fill(path, count)
    done = subprocess.run(
        [sys.executable, "-c", READ, str(path), str(min(count, 2000))],
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    print(count, found)
    assert found["verdicts"] == ["pass", "pass", "pass"]
    assert found["bytes"] > count * LARGE * 0.99
    assert found["lazy"] < 20_000_000 + count * 12_000
    assert found["held"] > min(count, 2000) * LARGE * 0.9  # whoever keeps bodies does need their memory
