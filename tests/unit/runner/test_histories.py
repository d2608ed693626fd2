"""Histories of a run whose tape still grows."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from faultwire.errors import TapeIncomplete
from faultwire.events import Exchange, Request, Response
from faultwire.runner.histories import Histories
from faultwire.tape.evidence.verify import verify
from faultwire.tape.read.reader import TapeReader
from faultwire.tape.record.writer import TapeWriter


@pytest.fixture
def writer(tmp_path: Path) -> Iterator[TapeWriter]:
    made = TapeWriter.create(tmp_path / "t.tape", origin="p/t", settings={})
    yield made
    made.close()


def session(writer: TapeWriter, name: str, answers: int = 1) -> None:
    writer.open_session(name, profile="calm", profile_digest="d", seed=1)
    for number in range(1, answers + 1):
        request = Request("POST", "https", "h.example", 443, "/v1", (), name.encode())
        recording = writer.record(Exchange(name, number, request, "llm"))
        recording.request(request)
        recording.upstream_head(Response(200, "OK", ()))
        recording.upstream_chunk(f"{name} {number}".encode())
        recording.end("complete")
    writer.close_session(name)
    writer.flush()


def test_each_session_as_it_is_closed_from_a_tape_that_is_opened_once(writer: TapeWriter) -> None:
    histories = Histories(writer.path)
    for at in range(3):
        session(writer, f"s{at}", at)
        history = histories.read(f"s{at}")
        assert [one.request.body for one in history.exchanges] == [f"s{at}".encode()] * at
        assert [one.delivered.body for one in history.exchanges] == [
            f"s{at} {n + 1}".encode() for n in range(at)
        ]
    (reader,) = histories._idle
    session(writer, "s3")
    with TapeReader.open(writer.path) as tape:
        assert histories.read("s3") == tape.history("s3")
    assert list(histories._idle) == [reader]


def test_a_session_that_is_not_there_takes_nothing_from_the_next(writer: TapeWriter) -> None:
    histories = Histories(writer.path)
    for name in ("s1", ""):
        with pytest.raises(TapeIncomplete):
            histories.read(name)
    session(writer, "s1")
    assert len(histories.read("s1").exchanges) == 1
    histories.close()


def test_a_reader_that_is_closed_keeps_no_log_beside_the_tape_and_bodies_are_there(
    writer: TapeWriter,
) -> None:
    histories = Histories(writer.path)
    session(writer, "s1")
    history = histories.read("s1")
    histories.close()
    writer.close()
    assert list(writer.path.parent.iterdir()) == [writer.path]
    assert verify(writer.path).ok
    assert history.exchanges[0].request.body == b"s1"
    assert histories.read("s1") == history
    histories.close()


def test_one_that_is_not_closed_does(writer: TapeWriter) -> None:
    histories = Histories(writer.path)
    session(writer, "s1")
    histories.read("s1")
    writer.close()
    assert len(list(writer.path.parent.iterdir())) == 3
    histories.close()


def test_bodies_are_read_while_other_threads_read_histories(writer: TapeWriter) -> None:
    histories = Histories(writer.path)
    for at in range(8):
        session(writer, f"s{at}", 5)
    wrong: list[object] = []

    def check(name: str) -> None:
        for _ in range(20):
            history = histories.read(name)
            bodies = [one.delivered.body for one in history.exchanges if one.delivered]
            if bodies != [f"{name} {n}".encode() for n in range(1, 6)]:
                wrong.append(bodies)

    threads = [threading.Thread(target=check, args=(f"s{at}",)) for at in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []
    assert 1 <= len(histories._idle) <= 8
    histories.close()
