"""A killed writer's tape opens soon, however long it is: its log is written back while it grows."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from faultwire.tape.read.reader import TapeReader

OPENS_S = 1.0
MB = 1 << 20
LOG_MB = 48
"""What the log may hold at most: 4,000 pages of 8 KB, and a commit."""
WRITES = """
import os, signal, sys
from pathlib import Path
from faultwire.events import Exchange, Request, Response
from faultwire.tape.record.writer import TapeWriter
writer = TapeWriter.create(Path(sys.argv[1]), origin="p/t", settings={})
if sys.argv[3] == "never":
    writer._store.execute("PRAGMA wal_autocheckpoint=0")
writer.open_session("s", profile="calm", profile_digest="d", seed=7)
for number in (1, 2):
    request = Request("POST", "https", "a.example", 443, "/v1", (), b"{}")
    recording = writer.record(Exchange("s", number, request))
    recording.request(request)
    recording.end("refused")
    acknowledged = writer.flush()
    if number == 1:  # megabytes of bodies, by its own connection: what lies between is not what is asked here
        for _ in range(int(sys.argv[2])):
            writer._log.put(os.urandom(1 << 20))
            writer._store.commit(writer._log.core)
assert acknowledged == 2, writer.failed
os.kill(os.getpid(), signal.SIGKILL)
"""


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Path]:
    """A folder in memory where there is one: how long a disk takes to sync is not what is asked here."""
    shared = Path("/dev/shm")
    with tempfile.TemporaryDirectory(dir=shared if os.access(shared, os.W_OK) else tmp_path) as folder:
        yield Path(folder)


def killed(path: Path, megabytes: int, written_back: str) -> float:
    """The tape of a writer that was killed behind its last acknowledgment; the size of its log, in MB."""
    command = [sys.executable, "-c", WRITES, str(path), str(megabytes), written_back]
    assert subprocess.run(command, check=False).returncode == -signal.SIGKILL
    return path.with_name(f"{path.name}-wal").stat().st_size / MB


def opened(path: Path) -> float:
    """CPU until the last exchange of a tape was found."""
    began = time.process_time()
    with TapeReader.open(path) as reader:
        assert sum(1 for _ in reader.exchanges("s")) == 2
        return time.process_time() - began


@pytest.mark.timeout(900)
@pytest.mark.parametrize("megabytes", [100, pytest.param(1024, marks=pytest.mark.nightly)])
def test_the_log_of_a_long_tape_is_short_and_it_opens_within_a_second(memory: Path, megabytes: int) -> None:
    log = killed(memory / "t.tape", megabytes, "grows")
    took = opened(memory / "t.tape")
    print(f"{megabytes} MB: a log of {log:.1f} MB, opened in {took:.3f} s of CPU")
    assert log < LOG_MB
    assert took < OPENS_S


@pytest.mark.timeout(900)
def test_a_log_that_is_never_written_back_is_as_long_as_the_tape_and_is_read_first(memory: Path) -> None:
    took = {}
    for how in ("grows", "never"):
        path = memory / f"{how}.tape"
        log = killed(path, 100, how)
        took[how] = opened(path)
        assert (log < LOG_MB) == (how == "grows"), log
        assert log < LOG_MB or log > 100
    print(f"opened in {took} s of CPU")
    assert took["never"] > 1.5 * took["grows"]
