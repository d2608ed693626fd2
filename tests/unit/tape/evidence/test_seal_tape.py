"""Sealing: on close, later, and not at all where the file may still change.

Covers faultwire.tape.evidence.sealer.
"""

from __future__ import annotations

import os
import sqlite3
from hashlib import sha256
from pathlib import Path

import pytest
from tests.unit.tape.evidence.resealed import (
    KEY,
    STRANGER,
    append,
    copied,
    findings,
    recorded,
    rewrite,
    seals,
)

from faultwire.errors import TapeError, TapeTampered
from faultwire.tape.evidence import sealer
from faultwire.tape.evidence.checkpoint import Checkpoint, note_digest
from faultwire.tape.evidence.signed_note import parse as parse_note
from faultwire.tape.format import file


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return recorded(tmp_path_factory.mktemp("template"), None)


@pytest.fixture
def bare(template: Path, tmp_path: Path) -> Path:
    """A closed tape without a seal."""
    return copied(template, tmp_path)


def point(note: str) -> Checkpoint:
    return Checkpoint.parse(parse_note(note).text)


def refusal(path: Path) -> TapeError:
    """Why a tape is not sealed; no seal is put beside it."""
    with pytest.raises(TapeError) as refused:
        sealer.seal_tape(path, KEY)
    assert not sealer.seal_path(path).exists()
    return refused.value


def begun(path: Path) -> sealer.Sealer:
    """What has sealed the events of this tape, and not yet its file."""
    found = sealer.Sealer(KEY, "p/t")
    found.event(11, bytes(32))
    return found


def test_every_seal_of_a_run_names_the_one_before(tmp_path: Path) -> None:
    path = recorded(tmp_path, KEY)
    notes = [seal["note"] for seal in seals(path)]
    previous = [point(note).previous for note in notes]
    assert previous == [None, note_digest(notes[0]), note_digest(notes[1])]
    beside = point(sealer.seal_path(path).read_text())
    assert (beside.previous, beside.size, beside.root) == (
        previous[2],
        seals(path)[-1]["size"],
        bytes.fromhex(seals(path)[-1]["root"]),
    )
    assert seals(path)[-1]["key"] == str(KEY.verifier)


def test_a_tape_is_sealed_later(bare: Path) -> None:
    found = sealer.seal_tape(bare, KEY)
    assert (found.origin, found.size, found.previous, found.file) == ("p/t", 11, None, None)
    assert findings(bare) == []
    assert point(sealer.seal_path(bare).read_text()).file == (
        sha256(bare.read_bytes()).hexdigest(),
        bare.stat().st_size,
    )
    modes = [path.stat().st_mode & 0o777 for path in (bare, sealer.seal_path(bare))]
    assert modes == [0o400, 0o400]
    assert sorted(path.name for path in bare.parent.iterdir()) == ["t.tape", "t.tape.seal"]


def test_a_tape_that_has_seals_and_none_beside_it_gets_one_that_names_the_last(tmp_path: Path) -> None:
    path = recorded(tmp_path, KEY)
    sealer.seal_path(path).unlink()
    rewrite(path, lambda rows: append(rows, {"type": "drop", "session": "s", "exchange": 3, "reason": "x"}))
    last = seals(path)[-1]["note"]
    found = sealer.seal_tape(path, KEY)
    assert (found.size, found.previous) == (15, note_digest(last))
    assert [code for code, *_ in findings(path)] == ["event_after_end", "drop_present"]


def test_a_sealed_tape_is_not_sealed_again(bare: Path) -> None:
    sealer.seal_tape(bare, KEY)
    before = bare.read_bytes()
    with pytest.raises(TapeError) as refused:
        sealer.seal_tape(bare, STRANGER)
    assert refused.value.message == f"tape `{bare}` is sealed already"
    assert refused.value.code == "tape.sealed"
    assert bare.read_bytes() == before


def test_a_tape_without_events_is_not_sealed(bare: Path) -> None:
    rewrite(bare, lambda rows: rows.execute("DELETE FROM events"))
    refused = refusal(bare)
    assert (refused.message, refused.code) == (f"tape `{bare}` has no events", "tape.seal")


@pytest.mark.parametrize(
    ("change", "event"),
    [
        ("UPDATE events SET hash = zeroblob(32) WHERE seq = 3", 3),
        ("UPDATE events SET record = CAST(replace(record, '200', '201') AS BLOB) WHERE seq = 3", 3),
        ("UPDATE events SET seq = 11 WHERE seq = 10", 11),
        ("DELETE FROM events WHERE seq = 0", 1),
    ],
)
def test_what_is_not_what_was_recorded_is_not_signed(bare: Path, change: str, event: int) -> None:
    rewrite(bare, lambda rows: rows.execute(change))
    refused = refusal(bare)
    assert isinstance(refused, TapeTampered)
    assert refused.message == f"event {event} of tape `{bare}` is not what was recorded"
    assert seals(bare) == []


def test_a_chain_that_is_broken_between_sound_events_is_not_signed(bare: Path) -> None:
    """Every row has its right hash and number: only `prev` tells that one was put in its place."""

    def change(rows: sqlite3.Connection) -> None:
        (kept,) = rows.execute("SELECT record FROM events WHERE seq = 10").fetchone()
        rows.execute("DELETE FROM events WHERE seq >= 9")
        append(rows, {"type": "drop", "session": "s", "exchange": 3, "reason": "x"})
        rows.execute("INSERT INTO events VALUES (10, 's', ?, ?)", (kept, file_leaf(kept)))

    rewrite(bare, change)
    assert refusal(bare).message == f"event 10 of tape `{bare}` is not what was recorded"


def file_leaf(record: bytes) -> bytes:
    return sha256(b"\0" + record).digest()


def test_an_event_that_no_tape_has_is_named(bare: Path) -> None:
    rewrite(bare, lambda rows: rows.execute("UPDATE events SET record = CAST('{}' AS BLOB) WHERE seq = 4"))
    refused = refusal(bare)
    assert refused.message.startswith(f"event 4 of tape `{bare}` is none that a tape has")


def test_a_tape_that_somebody_writes_is_not_sealed(bare: Path) -> None:
    fd = file.lock(bare)
    assert refusal(bare).code == "tape.locked"
    os.close(fd)
    assert sealer.seal_tape(bare, KEY).size == 11, "the control"


def test_a_tape_that_cannot_be_written_is_named(bare: Path, tmp_path: Path) -> None:
    (tmp_path / ".t.tape.seal.draft").mkdir()
    refused = refusal(bare)
    assert refused.message.startswith(f"cannot seal tape `{bare}`: [Errno 21] Is a directory")
    assert bare.stat().st_mode & 0o777 == 0o600
    assert refused.code == "tape.seal"


@pytest.mark.parametrize("end", ["-wal", "-journal"])
def test_a_file_that_may_still_change_is_not_sealed(bare: Path, end: str) -> None:
    """The next to open a tape with a journal beside it rolls it back, and its bytes are others then."""
    beside = bare.with_name(bare.name + end)
    beside.touch()
    bare.chmod(0o600)
    assert not sealer.close_file(bare, begun(bare))
    assert not sealer.seal_path(bare).exists()
    assert bare.stat().st_mode & 0o777 == 0o600
    beside.unlink()
    assert sealer.close_file(bare, begun(bare)), "the control"
    assert sealer.seal_path(bare).exists()


@pytest.mark.parametrize("end", ["-wal", "-journal"])
def test_a_tape_that_is_opened_while_it_is_sealed(
    bare: Path, end: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Opened(sqlite3.Connection):
        """When it is closed, somebody else has the tape open and has written beside it."""

        def close(self) -> None:
            super().close()
            bare.with_name(bare.name + end).touch()

    def connect(path: Path) -> sqlite3.Connection:
        connection = sqlite3.connect(path, isolation_level=None, factory=Opened)
        connection.execute("PRAGMA journal_mode=WAL")
        return connection

    monkeypatch.setattr(file, "connect_writer", connect)
    refused = refusal(bare)
    assert refused.message == f"tape `{bare}` is being read: close its readers first"
    assert refused.code == "tape.busy"


def test_what_an_earlier_attempt_left_is_no_hindrance(bare: Path, tmp_path: Path) -> None:
    (tmp_path / ".t.tape.seal.draft").write_text("half")
    sealer.seal_tape(bare, KEY)
    assert findings(bare) == []
    assert not (tmp_path / ".t.tape.seal.draft").exists()


def test_a_file_is_sealed_after_its_events(bare: Path) -> None:
    fresh = sealer.Sealer(KEY, "p/t")
    with pytest.raises(TapeError) as refused:
        sealer.close_file(bare, fresh)
    assert (refused.value.message, refused.value.code) == ("a file is sealed after its events", "tape.seal")


def test_the_digest_of_a_long_file_is_that_of_all_its_bytes(tmp_path: Path) -> None:
    path, data = tmp_path / "long", bytes(range(256)) * 8193
    path.write_bytes(data)
    assert sealer.file_digest(path) == (sha256(data).hexdigest(), len(data))
