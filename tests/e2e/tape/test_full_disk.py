"""A file that may not grow is a full disk: what was acknowledged is kept, nothing more is promised."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

import faultwire
from faultwire.tape.evidence.verify import verify
from faultwire.tape.read.reader import TapeReader

SOURCE = Path(faultwire.__file__).parents[1]
PROGRAM = """
import json, resource, sys
from pathlib import Path
from faultwire.events import Exchange, Request
from faultwire.tape.record.writer import TapeWriter

folder, limit = Path(sys.argv[1]), int(sys.argv[2])
writer = TapeWriter.create(folder / "t.tape", origin="p/t", settings={}, journal=folder / "events.jsonl")
resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))
number = acknowledged = 0
while writer.failed is None and number < 2000:
    number += 1
    request = Request("POST", "https", "h", 443, "/", (), b"%08d" % number * 250)
    recording = writer.record(Exchange("s", number, request))
    recording.request(request)
    recording.end("complete")
    acknowledged = writer.flush()
after = writer.flush()
writer.close()
print(json.dumps({"failed": writer.failed, "tried": number, "acknowledged": acknowledged, "after": after}))
"""


@pytest.mark.parametrize("limit", [200_000, 400_000, 1_000_000])
def test_a_full_disk_loses_nothing_that_was_promised(tmp_path: Path, limit: int) -> None:
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, str(tmp_path), str(limit)],
        env={**os.environ, "PYTHONPATH": str(SOURCE)},
        capture_output=True,
        check=True,
        timeout=60,
    )
    told = json.loads(done.stdout)
    assert told["failed"]
    assert told["after"] == told["acknowledged"] == told["tried"] - 1 > 0
    assert done.stderr == b""
    journal = [json.loads(line)["exchange"] for line in (tmp_path / "events.jsonl").read_text().splitlines()]
    assert journal == list(range(1, told["acknowledged"] + 1))
    with TapeReader.open(tmp_path / "t.tape") as reader:
        kept = [one.number for one in reader.exchanges() if one.ending == "complete"]
    assert set(journal) <= set(kept)
    assert verify(tmp_path / "t.tape").ok


def test_a_second_process_cannot_write_the_same_tape(tmp_path: Path) -> None:
    from faultwire.tape.record.writer import TapeWriter

    writer = TapeWriter.create(tmp_path / "t.tape", origin="p/t", settings={})
    program = (
        "import pathlib, sys; from faultwire.tape.format.file import lock; lock(pathlib.Path(sys.argv[1]))"
    )
    done = subprocess.run(
        [sys.executable, "-c", program, str(tmp_path / "t.tape")],
        env={**os.environ, "PYTHONPATH": str(SOURCE)},
        capture_output=True,
        text=True,
        timeout=60,
    )
    writer.close()
    assert done.returncode != 0
    assert "tape `t.tape` is being written by another process" in done.stderr
