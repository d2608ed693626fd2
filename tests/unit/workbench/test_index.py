import json
import sqlite3
import threading
import time
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import pytest
from tests.unit.workbench.conftest import Deck

from faultwire import clock
from faultwire.workbench.index import BUSY, BUSY_S, TapeIndex, rest_s

WAIT_S = 30


class Watched:
    """An index, and a way to wait until something holds of it."""

    def __init__(self, index: TapeIndex) -> None:
        self.index = index
        self.changed = threading.Condition()
        index.listen(self.notify)

    def notify(self) -> None:
        with self.changed:
            self.changed.notify_all()

    def until(self, holds) -> None:
        with self.changed:
            assert self.changed.wait_for(holds, WAIT_S)


@pytest.fixture
def watch() -> Iterator:
    made: list[TapeIndex] = []

    def start(path: Path, urge=None) -> Watched:
        index = TapeIndex(path, urge)
        made.append(index)
        watched = Watched(index)
        index.start()
        return watched

    yield start
    for index in made:
        index.close()


def all_read(index: TapeIndex, count: int):
    return lambda: len(index.rows) == count and all(row["read"] for row in index.rows)


def test_a_whole_tape_is_read_in_order(tape: Path, watch) -> None:
    index = watch(tape).index
    assert index.wait(WAIT_S)
    assert [row["number"] for row in index.rows] == [1, 2, 3, 4]
    assert not index.live
    assert index.problem is None


def test_a_row_changes_from_open_to_ended_to_read(deck: Deck, watch) -> None:
    deck.exchange()
    watched = watch(deck.path)
    watched.until(all_read(watched.index, 1))
    assert watched.index.live
    before = watched.index.revision
    deck.exchange()
    watched.until(all_read(watched.index, 2))
    reached, rows = watched.index.since(before, 100)
    assert [row["at"] for row in rows] == [1]
    assert rows[0]["tokens_in"] == 7
    assert watched.index.since(reached, 100) == (reached, [])


def test_a_call_under_way_is_shown_before_it_ends(deck: Deck, watch) -> None:
    watched = watch(deck.path)
    deck.begin()
    watched.until(lambda: len(watched.index.rows) == 1)
    assert watched.index.rows[0]["ending"] == "open"


def test_changes_come_in_portions(tape: Path, watch) -> None:
    watched = watch(tape)
    watched.until(all_read(watched.index, 4))
    revision, seen = 0, {}
    for _ in range(100):
        revision, rows = watched.index.since(revision, 3)
        if not rows:
            break
        seen |= {row["at"]: row["read"] for row in rows}
    assert seen == dict.fromkeys(range(4), True)


def test_what_is_damaged_stops_it_and_is_named(tape: Path, watch) -> None:
    tape.chmod(0o600)
    with sqlite3.connect(tape) as connection:
        connection.execute("UPDATE events SET record = CAST(record || ' ' AS BLOB) WHERE seq = 7")
    watched = watch(tape)
    watched.until(lambda: watched.index.problem is not None)
    assert "event 7" in (watched.index.problem or "")


def test_the_writer_is_urged_while_somebody_listens_and_not_once_it_has_gone(deck: Deck, watch) -> None:
    calls = []
    second = threading.Event()

    def urge() -> None:
        calls.append(1)
        if len(calls) == 2:
            second.set()
            raise OSError("the engine has ended")

    watched = watch(deck.path, urge)
    assert second.wait(WAIT_S)
    deck.exchange()
    watched.until(all_read(watched.index, 1))
    assert len(calls) == 2


@pytest.mark.parametrize(
    ("took", "rest"), [(0.0, 0.02), (0.001, 0.02), (0.01, 0.04), (0.02, 0.08), (3.0, 0.1)]
)
def test_a_writer_that_is_slow_is_left_alone_for_longer(took: float, rest: float) -> None:
    assert rest_s(took) == pytest.approx(rest)


def test_between_two_urges_the_writer_rests_also_while_bodies_are_read(deck: Deck, watch) -> None:
    deck.many(300)
    urged: list[tuple[float, float]] = []
    enough = threading.Event()

    def urge() -> None:
        began = time.monotonic()
        threading.Event().wait(0.03)  # as long as a busy writer takes
        urged.append((began, time.monotonic()))
        if len(urged) == 4:
            enough.set()

    watch(deck.path, urge)
    assert enough.wait(WAIT_S)
    rests = [began - ended for (_, ended), (began, _) in pairwise(urged[:4])]
    assert min(rests) >= 0.09


@pytest.mark.parametrize(
    ("every_s", "urged"),
    [(0.02, False), (0.2, False), (1.1 * 10 / BUSY, True), (1.0, True)],
    ids=["500 a second in small looks", "in large ones", "somewhat less than that", "few"],
)
def test_a_writer_with_more_than_somebody_reads_keeps_its_own_pace(
    deck: Deck, monkeypatch: pytest.MonkeyPatch, every_s: float, urged: bool
) -> None:
    now, calls = [100.0], list[int]()
    index = TapeIndex(deck.path, lambda: calls.append(1))
    index.listen(lambda: None)
    monkeypatch.setattr(clock, "monotonic", lambda: now[0])
    for _ in range(30):
        now[0] += every_s
        deck.many(100 if every_s == 0.2 else 10)
        index._look()
    index._rested = 0.0
    index._hurry()
    assert (bool(calls), index.busy) == (urged, not urged)
    now[0] += BUSY_S + 0.01
    index._hurry()
    assert calls, "what has become quiet is urged again"
    index._follower.close()
    index._tape.close()


def test_without_a_listener_nobody_is_urged(tape: Path) -> None:
    calls = []
    index = TapeIndex(tape, lambda: calls.append(1))
    index.start()
    assert index.wait(WAIT_S)
    index.close()
    assert calls == []


def test_a_listener_that_left_is_not_called(deck: Deck, watch) -> None:
    watched = watch(deck.path)
    calls = []
    leave = watched.index.listen(lambda: calls.append(1))
    leave()
    deck.exchange()
    watched.until(all_read(watched.index, 1))
    assert calls == []


def test_an_answer_that_is_fetched_again_is_counted_once(deck: Deck, watch) -> None:
    from tests.unit.workbench.conftest import asked

    usage = {"input_tokens": 5, "output_tokens": 2, "total_tokens": 7}
    answer = {
        "id": "resp_1",
        "object": "response",
        "model": "gpt-4o-mini",
        "status": "completed",
        "output": [],
    }
    body = json.dumps({**answer, "usage": usage}).encode()
    for _ in range(2):
        deck.exchange(asked(), body, path="/v1/responses", protocol="openai_responses")
    watched = watch(deck.path)
    watched.until(all_read(watched.index, 2))
    assert [row.get("counted_elsewhere") for row in watched.index.rows] == [False, True]
