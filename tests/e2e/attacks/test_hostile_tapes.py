"""A tape from a stranger: what it does to whoever just opens it, and that faultwire refuses it, and soon.

The attacks are shown to work on a program that reads a tape as the file that it is: with SQLite and zstd.
"""

from __future__ import annotations

import json
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import closing, suppress
from hashlib import sha256
from pathlib import Path

import pytest
import zstandard

from faultwire.errors import TapeError
from faultwire.events import Exchange, Request, Response
from faultwire.tape.evidence.verify import verify
from faultwire.tape.read.reader import TapeReader
from faultwire.tape.record.writer import TapeWriter

SOON_S = 0.1
STEPS = 1_000_000
"""Of SQLite's machine: far more than reading a tape of one exchange takes."""
PLAIN, PIECE = 1 << 30, 64 << 20
ENDLESS = """
ALTER TABLE events RENAME TO kept;
CREATE VIEW events AS
  WITH RECURSIVE n(seq) AS (SELECT 0 UNION ALL SELECT seq + 1 FROM n)
  SELECT seq, '' AS session, x'7b7d' AS record, x'00' AS hash FROM n;
"""
FORGING = """
CREATE TRIGGER forge AFTER INSERT ON blobs BEGIN
  UPDATE events SET record = CAST(replace(record, 'api.example', 'evil.example') AS BLOB);
END;
"""


@pytest.fixture
def tape(tmp_path: Path) -> Path:
    """A tape of one exchange, sound."""
    path = tmp_path / "t.tape"
    writer = TapeWriter.create(path, origin="p/t", settings={})
    writer.open_session("s", profile="calm", profile_digest="d", seed=7)
    request = Request("POST", "https", "api.example", 443, "/v1", (), b"{}")
    recording = writer.record(Exchange("s", 1, request))
    recording.request(request)
    recording.upstream_head(Response(200, "OK", (("content-type", "application/json"),)))
    recording.upstream_chunk(b'{"ok":1}')
    recording.end("complete")
    writer.close_session("s")
    writer.close()
    assert read(path) == 1
    return path


def read(path: Path) -> int:
    """How many answers faultwire finds, and reads."""
    with TapeReader.open(path) as reader:
        return sum(one.upstream is not None and one.upstream.body is not None for one in reader.exchanges())


def refusal(path: Path) -> str:
    """The code with which it is refused, within a tenth of a second of CPU."""
    began = time.process_time()
    with pytest.raises(TapeError) as found:
        read(path)
    findings = {one.code for one in verify(path).findings if not one.is_note}
    assert time.process_time() - began < SOON_S
    assert findings
    return found.value.code


def changed(path: Path, script: str) -> Path:
    with closing(sqlite3.connect(path)) as rows:
        rows.executescript(script)
    return path


def steps(path: Path, query: str) -> int:
    """How many steps a program's query takes, of at most `STEPS`."""
    taken = 0

    def step() -> bool:
        nonlocal taken
        taken += 1000
        return taken >= STEPS

    with closing(sqlite3.connect(path)) as rows:
        rows.set_progress_handler(step, 1000)
        with suppress(sqlite3.OperationalError):  # interrupted
            rows.execute(query).fetchall()
    return taken


def test_a_tape_whose_events_are_computed_is_refused(tape: Path) -> None:
    assert steps(tape, "SELECT record FROM events") < STEPS / 100
    assert refusal(changed(tape, ENDLESS)) == "tape.schema_mismatch"


def test_without_the_check_a_program_that_only_reads_it_computes_without_end(tape: Path) -> None:
    assert steps(changed(tape, ENDLESS), "SELECT record FROM events") >= STEPS


def test_a_tape_that_changes_itself_is_refused(tape: Path) -> None:
    assert refusal(changed(tape, FORGING)) == "tape.schema_mismatch"


def test_without_the_check_a_program_that_adds_to_it_forges_what_was_recorded(tape: Path) -> None:
    def hosts() -> set[str]:
        with closing(sqlite3.connect(tape)) as rows:
            events = [json.loads(one) for (one,) in rows.execute("SELECT record FROM events")]
        return {event["host"] for event in events if event["type"] == "request"}

    def add(name: bytes) -> None:
        with closing(sqlite3.connect(tape)) as rows, rows:
            row = (sha256(name).digest(), len(name), 0, name)
            rows.execute("INSERT INTO blobs VALUES (?, ?, ?, ?)", row)

    add(b"before")
    assert hosts() == {"api.example"}
    changed(tape, FORGING)
    add(b"after")
    assert hosts() == {"evil.example"}


def bombed(path: Path) -> Path:
    """An answer of a gigabyte in a few kilobytes."""
    pack = zstandard.ZstdCompressor().compressobj(size=PLAIN)
    packed = b"".join([pack.compress(bytes(PIECE)) for _ in range(PLAIN // PIECE)]) + pack.flush()
    with closing(sqlite3.connect(path)) as rows, rows:
        rows.execute("UPDATE blobs SET size = ?, packed = 1, data = ?", (PLAIN, packed))
    assert path.stat().st_size < 128 << 10
    return path


def unpack_all(path: Path) -> int:
    """What a program that trusts what is said of a body unpacks of it."""
    with closing(sqlite3.connect(path)) as rows:
        (packed,) = rows.execute("SELECT data FROM blobs WHERE packed = 1").fetchone()
    return sum(map(len, zstandard.ZstdDecompressor().read_to_iter(packed)))


def test_a_tape_with_a_bomb_is_refused(tape: Path) -> None:
    assert refusal(bombed(tape)).startswith("tape.")


def test_without_the_bound_a_file_of_kilobytes_is_unpacked_to_a_gigabyte(tape: Path) -> None:
    assert unpack_all(bombed(tape)) == PLAIN > 8_000 * tape.stat().st_size


@pytest.mark.parametrize("spoil", [lambda path: changed(path, ENDLESS), bombed], ids=["computed", "bomb"])
def test_a_command_refuses_it_with_a_code_and_without_a_traceback(
    tape: Path, spoil: Callable[[Path], Path]
) -> None:
    command = [sys.executable, "-m", "faultwire", "tape", "show", str(spoil(tape))]
    done = subprocess.run(command, cwd=tape.parent, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode not in (0, 1), done
    assert "Traceback" not in done.stderr
    assert done.stderr.startswith("tape.") or ".tape: tape." in done.stderr, done
