"""kill -9 of the engine at any moment: what was acknowledged is on the tape, and the tape verifies."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import signal
import sqlite3
import threading
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import pytest
from tests.bench import subjects
from tests.bench.rig import Rig

from faultwire.dice import unit
from faultwire.mitm.engine.client import Engine
from faultwire.tape.evidence.verify import verify
from faultwire.tape.read.reader import TapeReader

LOAD = 100_000
"""More than any engine lives to see."""
CONNECTIONS = 8
KINDS = ["numbered", "stream", "numbered"]
SECONDS = 120
FEWEST = 20
"""Exchanges that are acknowledged before an engine may die."""
LATEST_S = 0.08
"""Moments are spread over this long, which is several commits of the writer."""


@dataclass(frozen=True)
class Death:
    """What one killed engine leaves: `named` are the exchanges of its journal, `told` how many were
    acknowledged over the control socket, `said` digests of what the upstream sent, by number."""

    session: str
    tape: Path
    named: frozenset[int]
    told: int
    said: dict[str, dict[str, str]]


@pytest.fixture
def rig(tmp_path: Path) -> Iterator[Rig]:
    with Rig(tmp_path) as made:
        yield made


def kill_one(rig: Rig, nth: int) -> Death:
    """Start an engine in the same run folder as the one before, load it, and kill it."""
    session = f"life-{nth}"
    run = rig.folder / "run"
    tape = run / f"{session}.tape"
    engine = Engine.start(subjects.settings(run, rig.keys, tape=tape))
    try:
        subject = subjects.opened(engine, session, subjects.ARMED, rig.port)
        rig.load.send(json.dumps(subject.job(count=LOAD, connections=CONNECTIONS, kinds=KINDS)))
        told = 0
        while told < FEWEST * (1 + nth % 5):
            told = engine.flush()
        # The moment of death is what is tested: anywhere between two commits or inside one.
        threading.Event().wait(LATEST_S * unit(1, session, "kill", "", nth))
        os.kill(engine.pid, signal.SIGKILL)
    finally:
        engine.stop()
    outcome = rig.load.receive(SECONDS)
    assert 0 < outcome["done"] < LOAD
    return Death(session, tape, journal(run / "events.jsonl", session), told, rig.upstream.ask("digests"))


def journal(path: Path, session: str) -> frozenset[int]:
    """The exchanges of a session that were acknowledged; a line cut short promises nothing."""
    lines = path.read_bytes().split(b"\n")[:-1]
    events = [json.loads(line) for line in lines]
    return frozenset(
        event["exchange"]
        for event in events
        if event["type"] == "acknowledged" and event["session"] == session
    )


def lost(death: Death) -> set[int]:
    """Acknowledged exchanges that the tape lacks, or does not tell as they were."""
    with TapeReader.open(death.tape) as reader:
        found = {exchange.number: exchange for exchange in reader.exchanges(death.session)}
    missing = set(death.named - found.keys())
    for number in death.named & found.keys():
        exchange = found[number]
        asked = parse_qs(urlsplit(exchange.request.path).query)["id"][0]
        body = exchange.upstream.body if exchange.upstream else b""
        if (
            exchange.ending == "complete"
            and hashlib.sha256(body).hexdigest() != death.said[asked]["response_body"]
        ):
            missing.add(number)
    return missing


def forget_the_last(death: Death) -> Death:
    """The same, with the last recorded exchange taken off a copy of the tape."""
    copy = death.tape.with_name(f"forgetful-{death.tape.name}")
    for end in ("", "-wal"):
        source = death.tape.with_name(death.tape.name + end)
        if source.exists():
            shutil.copyfile(source, copy.with_name(copy.name + end))
    with closing(sqlite3.connect(copy)) as connection, connection:
        rows = connection.execute("SELECT seq, record FROM events ORDER BY seq DESC").fetchall()
        ended = next(
            event
            for _, record in rows
            if (event := json.loads(record))["type"] == "end" and event["exchange"] in death.named
        )
        gone = [(seq,) for seq, record in rows if json.loads(record).get("exchange") == ended["exchange"]]
        connection.executemany("DELETE FROM events WHERE seq = ?", gone)
    return Death(death.session, copy, death.named, death.told, death.said)


@pytest.mark.parametrize("kills", [6, pytest.param(200, marks=pytest.mark.nightly)])
def test_a_killed_engine_loses_nothing_that_it_acknowledged(rig: Rig, kills: int) -> None:
    for nth in range(kills):
        death = kill_one(rig, nth)
        assert len(death.named) >= death.told >= FEWEST, f"kill {nth}: the journal is behind `flush`"
        report = verify(death.tape)
        assert report.ok, f"kill {nth}: {[f for f in report.findings if not f.is_note][:3]}"
        assert {finding.code for finding in report.findings} <= {
            "session_open",
            "exchange_open",
            "seal_missing",
        }
        assert lost(death) == set(), f"kill {nth}"
        death.tape.unlink()


def test_a_lost_exchange_would_be_seen(rig: Rig) -> None:
    death = kill_one(rig, 0)
    forgetful = forget_the_last(death)

    assert lost(death) == set()
    assert len(lost(forgetful)) == 1
    assert not verify(forgetful.tape).ok
