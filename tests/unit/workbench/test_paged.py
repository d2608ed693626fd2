from pathlib import Path

import pytest
from tests.unit.workbench.conftest import Deck, answered, asked

from faultwire.errors import TapeTampered
from faultwire.workbench import paged
from faultwire.workbench.index import TapeIndex

WAIT_S = 30


def read(path: Path) -> TapeIndex:
    index = TapeIndex(path)
    index.start()
    assert index.wait(WAIT_S)
    while any(row["ending"] != "open" and not row["read"] for row in index.rows):
        assert index._thread.is_alive()
    return index


@pytest.fixture
def mixed(deck: Deck) -> Path:
    """Every kind of row: plain, retried, cut, of another session, one that can be fetched again, without an
    end, and one whose body is no JSON."""
    deck.exchange()
    deck.exchange(asked("again"), b'{"error":{"message":"busy"}}', status=503, key="k1")
    deck.exchange(asked("again"), attempt=1, key="k1")
    deck.cut()
    deck.exchange(asked("again"), session="t", answer=b"\xff\xfe")
    for _ in range(2):
        deck.exchange(asked(), FETCHED, path="/v1/responses", protocol="openai_responses")
    for _ in range(2):
        deck.exchange(asked("the same"), answered("nothing"))
    deck.begin()
    return deck.path


FETCHED = (
    b'{"id":"resp_1","object":"response","model":"gpt-4o-mini","status":"completed","output":[],'
    b'"usage":{"input_tokens":5,"output_tokens":2,"total_tokens":7}}'
)


def test_a_row_that_is_read_again_is_what_it_was(mixed: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    index = read(mixed)
    kept = [dict(row) for row in index.rows]
    assert len(kept) == 10
    assert [row.get("counted_elsewhere") for row in kept].count(True) == 1
    assert kept[-1]["ending"] == "open"
    monkeypatch.setattr(paged, "KEPT", 0)
    index.rows.keep(kept[0])
    assert index.rows.kept == 0
    assert [dict(row) for row in index.rows] == kept
    assert len({row["call"] for row in kept[7:9]}) == 2, "equal calls are not one call"
    index.close()


def test_only_so_many_rows_are_kept(deck: Deck, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(paged, "KEPT", 5)
    deck.many(20)
    index = read(deck.close())
    assert index.rows.kept == 5
    assert [row["number"] for row in index.rows] == list(range(1, 21))
    assert index.rows.kept == 5
    index.close()


def test_exchanges_are_chosen_without_being_read(mixed: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    index = read(mixed)
    every = index.recorded
    some = every[2:6][1:]
    assert len(some) == 3
    assert [one.number for one in some] == [4, 5, 6]
    assert [one.number for one in every.of_session("t")] == [5]
    assert every[-1].number == 10
    with pytest.raises(IndexError):
        every[10]
    monkeypatch.setattr(index._tape, "at", None)
    assert len(every.of_session("s", 3)) == 3
    index.close()


def test_one_that_was_changed_on_the_tape_is_refused(tape: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import sqlite3

    monkeypatch.setattr(paged, "KEPT", 1)
    index = read(tape)
    tape.chmod(0o600)
    with sqlite3.connect(tape) as connection:
        connection.execute("UPDATE events SET record = CAST(record || ' ' AS BLOB) WHERE seq = 3")
    with pytest.raises(TapeTampered, match="event 3"):
        index.rows[0]
    assert index.rows[3]["number"] == 4
    index.close()
