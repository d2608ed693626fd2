"""A tape holds the rows, and its file the bytes, that it would hold if Python wrote each by itself."""

from __future__ import annotations

import os
import sqlite3
from collections import OrderedDict
from contextlib import closing
from itertools import count
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
import zstandard
from hypothesis import HealthCheck, given, settings, strategies as st
from tests.property.test_tape_round_trip import bodies, exchanges, record

from faultwire import _core
from faultwire.events import Exchange
from faultwire.tape.evidence.sealer import Sealer
from faultwire.tape.evidence.signed_note import SignerKey
from faultwire.tape.format import events as tape_events, file
from faultwire.tape.format.events import Event
from faultwire.tape.format.hash_chain import GENESIS, leaf, record_bytes, storable
from faultwire.tape.format.rows import insert_blobs, insert_events
from faultwire.tape.record import recorder
from faultwire.tape.record.encoder import EventEncoder
from faultwire.tape.record.event_log import EventLog
from faultwire.tape.record.queue import WriteQueue
from faultwire.tape.record.recorder import Recording
from faultwire.tape.record.store import InterpreterStore, Store, open_store
from faultwire.tape.redact.redactor import Redactor

MEMORY = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
"""How long a disk takes to sync is not what is asked here."""
SIGNER = SignerKey("p", b"s" * 32)
large = st.tuples(bodies, st.integers(30, 400)).map(lambda made: made[0] * made[1])
SECRETS = (
    b'{"api_key": "sk-ant-api03-Wm5Qx8Zt2Vb7Nk1RWm5Qx8Zt2Vb7Nk1R"}',
    b'data: {"a":"password=hunter2hunter2"}\n\n',
)


@st.composite
def recordings(draw: st.DrawFn) -> dict[str, Any]:
    """An exchange as elsewhere, with bodies that are packed, or hold secrets, now and then."""
    what: dict[str, Any] = draw(exchanges())
    more = draw(st.none() | large | st.sampled_from(SECRETS))
    if more is not None and what["up"]:
        what["up"].append(more)
    return what


class PlainLog(EventLog):
    """The log in Python: each event gets its number and link before it is looked through and written."""

    def __init__(self, redactor: Redactor) -> None:
        super().__init__(redactor)
        self.core = self  # type: ignore[assignment]
        self.events: list[tuple[int, str, bytes, bytes]] = []
        self.blobs: list[tuple[bytes, int, int, bytes]] = []
        self.leaves: list[bytes] = []
        self._before = GENESIS
        self._known: OrderedDict[str, None] = OrderedDict()
        self._packer = zstandard.ZstdCompressor(level=1)

    @property
    def waits(self) -> bool:
        return bool(self.events)

    @property
    def last(self) -> tuple[int, str]:
        return len(self.leaves) - 1, self._before

    def put(self, data: bytes) -> str:
        digest = _core.sha256_hex(data)
        if digest not in self._known:
            self._known[digest] = None
            packed = self._packer.compress(data) if len(data) >= 4096 else data
            smaller = len(packed) < len(data)
            self.blobs.append((bytes.fromhex(digest), len(data), int(smaller), packed if smaller else data))
        return digest

    def append(self, event: Event, counts: dict[str, int] | None = None, *, clean: bool = False) -> None:
        event["seq"], event["prev"] = len(self.leaves), self._before
        try:
            text = record_bytes(event)
        except TypeError:
            event = storable(event)
            text = record_bytes(event)
        if not clean and self._redactor.suspects(text):
            event = self._redactor.event(event, {} if counts is None else counts)
            text = record_bytes(event)
        self._add(event, text)

    def seal(self, sealer: Sealer) -> None:
        event = sealer.event(len(self.leaves), _core.merkle_root(self.leaves))
        event["seq"], event["prev"] = len(self.leaves), self._before
        self._add(event, record_bytes(event))

    def _add(self, event: Event, text: bytes) -> None:
        digest = leaf(text)
        self.events.append((len(self.leaves), event.get("session", ""), text, digest))
        self.leaves.append(digest)
        self._before = digest.hex()

    def drain(self) -> tuple[list[Any], list[Any]]:
        events, blobs = self.events, self.blobs
        self.events, self.blobs = [], []
        return events, blobs


class PlainStore(InterpreterStore):
    """Writes what a `PlainLog` holds."""

    log: PlainLog

    def commit(self, _: object, /) -> None:
        events, blobs = self.log.drain()
        self._connection.execute("BEGIN IMMEDIATE")
        insert_blobs(self._connection, blobs)
        insert_events(self._connection, events)
        self._connection.execute("COMMIT")


class Taken:
    """What `record` asks of a writer, on one thread: a flush encodes what there is, and commits."""

    def __init__(self, log: EventLog, store: Store) -> None:
        self._log, self._store, self._queue = log, store, WriteQueue()
        self._encoder = EventEncoder(log, Redactor(b"k" * 32))
        self.sealer = Sealer(SIGNER, "p/t")
        self.flush()

    def record(self, exchange: Exchange) -> Recording:
        return Recording(exchange, self._queue)

    def flush(self) -> None:
        for item in list(self._queue._items):
            self._encoder.write(item)
        self._queue._items.clear()
        self._store.commit(self._log.core)

    def seal(self) -> None:
        self._encoder.seal(self.sealer)


def written(path: Path, log: EventLog, sent: list[dict[str, Any]], patch: pytest.MonkeyPatch) -> bytes:
    """The file of a tape of these exchanges, recorded under a clock that counts."""
    ticks = count(1)
    patch.setattr(recorder, "monotonic_ns", lambda: 1000 * next(ticks))
    patch.setattr(recorder, "wall_ms", lambda: 1_700_000_000_000 + next(ticks))
    file.create(path, lambda _: None)
    store = PlainStore(path) if isinstance(log, PlainLog) else open_store(path)
    if isinstance(store, PlainStore):
        store.log = log  # type: ignore[assignment]
    log.append(tape_events.tape("p/t", "d" * 64, 1, {"a": 1.5}))
    taken = Taken(log, store)
    for number, what in enumerate(sent, 1):
        record(taken, number, what)  # type: ignore[arg-type]
        if number % 2:
            taken.seal()
    taken.flush()
    assert store.fold()
    store.close()
    return path.read_bytes()


def rows(path: Path) -> list[Any]:
    with closing(sqlite3.connect(path)) as connection:
        events = connection.execute("SELECT seq, session, record, hash FROM events ORDER BY seq").fetchall()
        return events + connection.execute("SELECT rowid, * FROM blobs ORDER BY rowid").fetchall()


def compare(sent: list[dict[str, Any]], log: EventLog) -> None:
    """Raises AssertionError where `log` writes another tape than Python does."""
    with TemporaryDirectory(dir=MEMORY) as folder, pytest.MonkeyPatch.context() as patch:
        core, plain = Path(folder) / "core.tape", Path(folder) / "plain.tape"
        same = written(core, log, sent, patch) == written(plain, PlainLog(Redactor(b"k" * 32)), sent, patch)
        assert rows(core) == rows(plain)
        assert same, "the rows are the same and the files are not"


@settings(max_examples=400, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.lists(recordings(), min_size=1, max_size=5))
def test_the_core_writes_what_python_would_write(sent: list[dict[str, Any]]) -> None:
    compare(sent, EventLog(Redactor(b"k" * 32)))


class Skips(EventLog):
    """By control: forgets the third event, or changes the case of one letter in a body."""

    def __init__(self, what: str) -> None:
        super().__init__(Redactor(b"k" * 32))
        self._what, self._calls = what, 0

    def append(self, event: Event, counts: dict[str, int] | None = None, *, clean: bool = False) -> None:
        self._calls += 1
        if self._what != "event" or self._calls != 3:
            super().append(event, counts, clean=clean)

    def put(self, data: bytes) -> str:
        return super().put(data.upper() if self._what == "body" else data)


@pytest.mark.parametrize("what", ["event", "body"])
def test_a_difference_is_found(what: str) -> None:
    sent: list[dict[str, Any]] = []

    @settings(max_examples=1, database=None)
    @given(st.lists(exchanges().filter(lambda one: b"a" in b"".join(one["up"])), min_size=2, max_size=2))
    def collect(made: list[dict[str, Any]]) -> None:
        sent[:] = made

    collect()
    compare(sent, EventLog(Redactor(b"k" * 32)))
    with pytest.raises(AssertionError):
        compare(sent, Skips(what))
