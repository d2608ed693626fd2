"""Thousands of exchanges through the recording engine, and not one byte is another."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
from tests.bench import subjects
from tests.bench.rig import Rig

from faultwire.events import Recorded
from faultwire.mitm.engine.client import Engine, SessionSummary
from faultwire.tape.evidence.keyring import KeyRing
from faultwire.tape.evidence.verify import verify
from faultwire.tape.read.reader import TapeReader

COUNTS = [2_000, pytest.param(10_000, marks=pytest.mark.nightly)]
CONNECTIONS = 8
KINDS = (["numbered"] * 3 + ["stream"] * 2) * 50 + ["large"] * 2
"""JSON and streams of 200 B and 2 KB, and of 1 MB now and then."""
FLIPPED = (3, 4, 250, 251)
"""A small body, a stream, and a large one of each."""
SECONDS = 240

Digests = dict[str, dict[str, str]]


def changed(there: Digests, here: Digests) -> set[tuple[int, str]]:
    """`(number, part)` of everything that is not on both sides the same."""
    found = set()
    for number in there.keys() | here.keys():
        one, other = there.get(number, {}), here.get(number, {})
        found |= {
            (int(number), part) for part in one.keys() | other.keys() if one.get(part) != other.get(part)
        }
    return found


def digest(data: bytes | None) -> str:
    return hashlib.sha256(data or b"").hexdigest()


def recorded(exchange: Recorded) -> tuple[str, dict[str, str]]:
    """An exchange's number in its URL, and the digests of what the tape says its bodies were."""
    assert exchange.upstream is not None
    assert exchange.delivered is not None
    number = parse_qs(urlsplit(exchange.request.path).query)["id"][0]
    return number, {
        "request_body": digest(exchange.request.body),
        "response_body": digest(exchange.upstream.body),
        "delivered_body": digest(exchange.delivered.body),
    }


@pytest.fixture
def rig(tmp_path: Path) -> Iterator[Rig]:
    with Rig(tmp_path) as made:
        yield made


class Passed:
    """A finished run: what the upstream saw and said, what the client did, and what is on the tape."""

    def __init__(self, rig: Rig, profile: str, **job: Any) -> None:
        settings = subjects.settings(rig.folder / "run", rig.keys)
        assert settings.tape is not None
        self.tape = settings.tape
        self.keys = KeyRing(settings.ca_dir.parent / "keys")
        with Engine.start(settings) as engine:
            subject = subjects.opened(engine, "soak", profile, rig.port)
            self.outcome = rig.load.ask(subject.job(**job), seconds=SECONDS)
            self.summary: SessionSummary = engine.close_session("soak")
        self.there: Digests = rig.upstream.ask("digests")
        self.here: Digests = self.outcome["seen"]


@pytest.mark.parametrize("count", COUNTS)
def test_exchanges_pass_unchanged_and_are_all_on_the_tape(rig: Rig, count: int) -> None:
    run = Passed(rig, subjects.ARMED, count=count, connections=CONNECTIONS, kinds=KINDS)

    assert (run.outcome["failed"], run.outcome["errors"]) == (0, [])
    assert len(run.there) == len(run.here) == count
    assert changed(run.there, run.here) == set()

    assert (run.summary.exchanges, run.summary.voids, run.summary.fired) == (count, (), {})
    assert run.summary.acknowledged == count
    report = verify(run.tape, run.keys.trusted())
    assert (report.findings, report.exchanges) == ([], count)
    with TapeReader.open(run.tape) as tape:
        kept = dict(recorded(exchange) for exchange in tape.exchanges())
    bodies = {
        number: {
            "request_body": parts["request_body"],
            "response_body": parts["response_body"],
            "delivered_body": parts["response_body"],
        }
        for number, parts in run.there.items()
    }
    assert changed(bodies, kept) == set()


def test_the_comparison_sees_a_single_bit(rig: Rig) -> None:
    run = Passed(rig, subjects.IDLE, count=len(KINDS), connections=4, kinds=KINDS, flip=FLIPPED)

    assert changed(run.there, run.here) == {(number, "response_body") for number in FLIPPED}
