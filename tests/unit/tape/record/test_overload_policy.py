from __future__ import annotations

import asyncio
import json
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from faultwire.events import Exchange, Request, Response
from faultwire.tape.evidence.findings import evidence_class
from faultwire.tape.evidence.verify import verify
from faultwire.tape.format.file import connect_reader, event_rows
from faultwire.tape.record.overload_policy import BEHIND, Policy
from faultwire.tape.record.writer import TapeWriter

REQUEST = Request("POST", "https", "h.example", 443, "/v1", (), b"{}")
DROPS = Policy(when_full="drop")
PASSES = Policy(on_failure="pass-unrecorded")


def opened(path: Path, policy: Policy) -> TapeWriter:
    writer = TapeWriter.create(path, origin="p/t", settings={}, policy=policy)
    writer.open_session("s", profile="calm", profile_digest="d", seed=7)
    return writer


def exchange(number: int) -> Exchange:
    return Exchange("s", number, REQUEST, "llm")


def whole(writer: TapeWriter, number: int, answer: bytes = b"{}") -> Any:
    recording = writer.admit(exchange(number))
    if recording is not None:
        recording.request(REQUEST)
        recording.upstream_head(Response(200))
        recording.upstream_chunk(answer)
        recording.end("complete")
    return recording


def events(path: Path) -> list[dict[str, Any]]:
    with closing(connect_reader(path)) as connection:
        return [json.loads(record) for _, _, record, _ in event_rows(connection)]


def test_the_default_waits_and_refuses() -> None:
    assert not Policy().drops
    assert not Policy().passes


def test_what_finds_no_room_is_dropped_and_named(tmp_path: Path) -> None:
    writer = opened(tmp_path / "t.tape", DROPS)
    whole(writer, 1)
    assert writer.flush() == 1
    writer._intake.limit = 1000
    with closing(sqlite3.connect(tmp_path / "t.tape", isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")  # the writer has to wait, and the queue fills
        long = whole(writer, 2, b"x" * 5000)
        assert long.lost  # it filled the queue itself: its end found no room
        assert whole(writer, 3) is None
        other.execute("ROLLBACK")
    writer.flush()
    writer._intake.limit = 1_000_000
    whole(writer, 4)
    assert writer.flush() == 2
    assert writer.dropped("s") == 2
    writer.close_session("s")
    writer.close()

    drops = [event for event in events(writer.path) if event["type"] == "drop"]
    assert sorted((drop["exchange"], drop["reason"]) for drop in drops) == [(2, BEHIND), (3, BEHIND)]
    report = verify(writer.path)
    assert report.ok
    assert [f.code for f in report.findings].count("drop_present") == 2
    assert evidence_class(report)[0] == "PARTIAL"


async def test_nobody_waits_under_drop(tmp_path: Path) -> None:
    writer = opened(tmp_path / "t.tape", DROPS)
    writer._intake.offered += writer._intake.limit
    assert not writer.lags
    await asyncio.wait_for(writer.room(), 5)
    writer._intake.took(writer._intake.limit)
    writer.close()


def test_nothing_is_dropped_while_there_is_room(tmp_path: Path) -> None:
    writer = opened(tmp_path / "t.tape", DROPS)
    for number in range(1, 50):
        whole(writer, number)
    assert writer.flush() == 49
    assert writer.dropped("s") == 0
    writer.close_session("s")
    writer.close()
    assert {f.code for f in verify(writer.path).findings} == {"seal_missing"}


@pytest.mark.parametrize("policy", [Policy(), PASSES])
def test_after_a_failure_only_one_policy_lets_exchanges_pass(tmp_path: Path, policy: Policy) -> None:
    writer = opened(tmp_path / "t.tape", policy)
    whole(writer, 1)
    assert writer.flush() == 1
    writer._store.execute("PRAGMA query_only=ON")  # every further write is refused
    whole(writer, 2)
    assert writer.flush() == 1
    assert writer.failed
    assert (whole(writer, 3) is None) == policy.passes
    assert writer.unrecorded["s"] == (1 if policy.passes else 0)
    assert writer.flush() == 1
    writer.close()
    report = verify(writer.path)
    assert (report.ok, report.exchanges) == (True, 1)
    assert evidence_class(report)[0] == "PARTIAL"
