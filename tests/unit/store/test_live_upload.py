"""Pieces are there before the seal, the tape only after it; a store that fails stops nothing else."""

from __future__ import annotations

import threading
from hashlib import shake_256
from pathlib import Path

import pytest

from faultwire.errors import FaultwireError
from faultwire.store.live_upload import LiveUpload, _Watched
from faultwire.store.objects import Objects
from faultwire.store.tapes import kept, pull, push
from faultwire.tape.evidence.sealer import seal_tape
from faultwire.tape.evidence.signed_note import SignerKey
from faultwire.tape.format import events as tape_events, file
from faultwire.tape.format.rows import insert_blobs, insert_events
from faultwire.tape.record.event_log import EventLog
from faultwire.tape.redact.redactor import Redactor, fresh_key

SIGNER = SignerKey.fresh("test")


class Recorder:
    """Writes a tape as the recorder does: bodies and their events, a transaction at a time."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.log = EventLog(Redactor(fresh_key()))
        self.log.append(tape_events.tape("test/a", file.schema_digest(), 0, {}))
        first, _ = self.log.drain()
        file.create(path, lambda draft: insert_events(draft, first))
        self.writer = file.connect_writer(path)

    def add(self, count: int, start: int = 0) -> None:
        self.writer.execute("BEGIN")
        for number in range(start, start + count):
            data = shake_256(number.to_bytes(4)).digest(20_000)
            body = tape_events.body(self.log.put(data), len(data))
            self.log.append(tape_events.foreign("", "x", "y", number, 0, body))
        events, blobs = self.log.drain()
        insert_blobs(self.writer, blobs)
        insert_events(self.writer, events)
        self.writer.execute("COMMIT")

    def seal(self) -> None:
        self.writer.close()
        seal_tape(self.path, SIGNER)


@pytest.fixture
def objects(tmp_path: Path) -> Objects:
    (tmp_path / "team").mkdir()
    return Objects(str(tmp_path / "team"))


def test_nearly_all_of_a_tape_is_there_when_it_is_sealed(tmp_path: Path, objects: Objects) -> None:
    tape = Recorder(tmp_path / "a.tape")
    live, one = LiveUpload(objects), _Watched(tape.path)
    for start in range(0, 1000, 20):
        tape.add(20, start)
        live.look(one)
    assert kept(objects, "shop") == []
    tape.seal()
    live.close()
    done = push(objects, tape.path, "shop")
    whole = done.sent_bytes + done.known_bytes
    assert whole > 19 << 20
    assert done.known_bytes / whole > 0.85
    assert pull(objects, done.digest, "shop", tmp_path / "b.tape").read_bytes() == tape.path.read_bytes()


def test_the_thread_sends_by_itself_and_ends_at_once(tmp_path: Path, objects: Objects) -> None:
    tape = Recorder(tmp_path / "a.tape")
    tape.add(400)
    sent = threading.Event()

    class Noting(Objects):
        def put(self, name: str, data: bytes) -> None:
            super().put(name, data)
            sent.set()

    live = LiveUpload(Noting(str(tmp_path / "team")), every_s=0.01)
    live.watch([tmp_path / "not-there-yet.tape", tape.path])
    assert sent.wait(60)
    live.close()
    assert live.failed is None
    assert live.sent_bytes > 0
    assert not any(thread.name == "tape upload" for thread in threading.enumerate())
    tape.writer.close()


def test_a_store_that_fails_ends_the_sending_and_is_named(tmp_path: Path) -> None:
    tape = Recorder(tmp_path / "a.tape")
    tape.add(400)
    failed = threading.Event()

    class Full(Objects):
        def put(self, name: str, data: bytes) -> None:
            failed.set()
            raise FaultwireError("the bucket is full", code="tapes.failed")

    (tmp_path / "team").mkdir()
    live = LiveUpload(Full(str(tmp_path / "team")), every_s=0.01)
    live.watch([tape.path])
    assert failed.wait(60)
    live.stop()
    assert (live.failed, live.sent_bytes) == ("the bucket is full", 0)
    tape.add(20, 400)  # the writer goes on
    live.close()
    tape.writer.close()
