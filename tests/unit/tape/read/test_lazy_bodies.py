"""Bodies stay on the tape until they are asked for."""

from __future__ import annotations

import os
import tracemalloc
from dataclasses import replace
from typing import Any

import pytest

from faultwire.errors import TapeError, TapeNotFound, TapeTampered
from faultwire.events import Delivery, Request, Response
from faultwire.tape.read.lazy_bodies import REMEMBERED, LazyBody, Remembered, StoredDelivery, StoredRequest
from faultwire.tape.read.reader import TapeReader

BLOBS = {"aa": b"one, ", "bb": b"two"}
LARGE, COUNT = 100_000, 120


def fetched(log: list[str]) -> Any:
    def fetch(name: str) -> bytes:
        log.append(name)
        return BLOBS[name]

    return fetch


def pieces(*names: str) -> LazyBody:
    made = LazyBody()
    for at, name in enumerate(names, 1):
        made.add({"blob": name, "size": len(BLOBS[name]), "chunks": [[len(BLOBS[name]), at * 10]]})
    return made


def delivery(log: list[str], *names: str) -> Delivery:
    return StoredDelivery.of(Delivery(200, "OK", (("a", "b"),), b""), pieces(*names), fetched(log))


def test_a_body_is_read_when_it_is_asked_for() -> None:
    log: list[str] = []
    got = delivery(log, "aa", "bb")
    assert (got.status, got.headers, got.chunks) == (200, (("a", "b"),), ((5, 10), (8, 20)))
    assert log == []
    assert got.body == b"one, two"
    assert log == ["aa", "bb"]


def test_equality_is_that_of_deliveries_and_reads_no_body_twice() -> None:
    log: list[str] = []
    got = delivery(log, "aa", "bb")
    assert got == delivery(log, "aa", "bb")
    assert log == []
    plain = Delivery(200, "OK", (("a", "b"),), b"one, two", ((5, 10), (8, 20)))
    assert got == plain
    assert plain == got
    assert hash(got) == hash(plain)
    assert got != delivery(log, "aa")
    assert got != replace(plain, status=500)
    assert got != "one, two"


def test_a_changed_copy_is_an_ordinary_value() -> None:
    request = StoredRequest.of(Request("POST", "https", "h", 443, "/"), pieces("aa"), fetched([]))
    assert request.body == b"one, "
    without = replace(request, body=None)
    assert (type(without), without.body, without.url) == (Request, None, request.url)
    assert type(replace(delivery([], "aa"), status=500)) is Delivery
    assert request == Request("POST", "https", "h", 443, "/", (), b"one, ")


def test_a_request_without_a_body_has_none() -> None:
    plain = Request("GET", "https", "h", 443, "/")
    assert StoredRequest.of(plain, LazyBody(), fetched([])) is plain


@pytest.mark.parametrize(
    "event",
    [{}, {"blob": 7, "chunks": []}, {"blob": "aa", "chunks": [[1]]}, {"blob": "aa", "chunks": [["1", 2]]},
     {"blob": "aa", "chunks": [[2**63, 2]]}, {"blob": "aa", "chunks": 7}],
)  # fmt: skip
def test_pieces_of_another_shape_are_refused(event: dict[str, Any]) -> None:
    with pytest.raises((KeyError, TypeError, ValueError)):
        LazyBody().add(event)


def test_a_body_is_as_long_as_its_events_say_and_no_longer_than_memory() -> None:
    lies = LazyBody()
    for size in (3, 5):
        lies.add({"blob": "aa", "size": size, "chunks": ()})
    with pytest.raises(TapeTampered, match="does not have its 8 bytes"):
        lies.read(fetched([]))
    log: list[str] = []
    bomb = LazyBody()
    for _ in range(160):
        bomb.add({"blob": "aa", "size": 64 << 20, "chunks": ()})
    with pytest.raises(TapeError, match="a body has 10737418240 bytes") as caught:
        bomb.read(fetched(log))
    assert (caught.value.code, log) == ("tape.body_size", [])  # nothing was unpacked to find that out


def test_what_was_fetched_last_is_remembered_up_to_a_bound() -> None:
    log: list[str] = []

    def fetch(name: str) -> bytes:
        log.append(name)
        return name.encode() * 10

    remembered = Remembered(fetch, most=25)
    for name in ("a", "b", "a", "c", "a", "b"):
        assert remembered(name) == name.encode() * 10
    assert log == ["a", "b", "c", "b"]  # `b` had to go for `c`
    assert remembered("long") == b"long" * 10
    assert remembered("long") == b"long" * 10
    assert log[-2:] == ["long", "long"]  # longer than all that may be kept


# ---------------------------------------------------------------- a real tape


def filled(deck: Any, count: int = COUNT) -> list[bytes]:
    """Exchanges with answers of 100 kB each that nothing can pack."""
    answers = []
    for _ in range(count):
        answer = os.urandom(LARGE // 2).hex().encode()
        recording = deck.begin()
        recording.upstream_head(Response(200, "OK", (("content-type", "text/plain"),)))
        recording.upstream_chunk(answer)
        recording.end("complete")
        answers.append(answer)
    deck.writer.close()
    return answers


def test_a_history_needs_no_more_memory_than_its_longest_bodies(deck: Any) -> None:
    sizes = [len(answer) for answer in filled(deck)]
    assert sum(sizes) > 11_000_000
    tracemalloc.start()
    with TapeReader.open(deck.path) as reader:
        history = reader.history("s")
    assert len(history.exchanges) == COUNT
    assert tracemalloc.get_traced_memory()[1] < 3_000_000

    assert [len(e.upstream.body) for e in history.exchanges if e.upstream] == sizes  # after it was closed
    _, walked = tracemalloc.get_traced_memory()
    assert walked < REMEMBERED + 3_000_000

    held = [e.upstream.body for e in history.exchanges if e.upstream]  # who keeps them needs them all
    assert len(held) == COUNT
    assert tracemalloc.get_traced_memory()[1] > sum(sizes)
    tracemalloc.stop()


def test_one_exchange_is_found_without_folding_the_others(deck: Any) -> None:
    for _ in range(120):
        deck.exchange()
    deck.writer.close()
    with TapeReader.open(deck.path) as reader:
        added: list[int] = []

        class Counting(TapeReader):
            def _event(self, seq: int, *row: Any) -> Any:
                added.append(seq)
                return super()._event(seq, *row)

        counting = Counting(reader.path, reader._open())
        detail = counting.detail("s", 12)
        assert len(added) < 60  # 12 and 120, not every one
        assert detail.recorded == list(reader.exchanges())[11]
        assert detail.recorded.n == 11  # for which the others are read after all


def test_a_body_that_is_gone_says_so_when_it_is_asked_for(deck: Any) -> None:
    filled(deck, 1)
    with TapeReader.open(deck.path) as reader:
        (exchange,) = reader.exchanges()
    deck.path.rename(deck.path.with_suffix(".away"))
    assert exchange.upstream is not None
    with pytest.raises(TapeNotFound):
        assert exchange.upstream.body


def test_a_body_that_was_changed_is_never_given_out(deck: Any) -> None:
    import sqlite3

    filled(deck, 1)
    connection = sqlite3.connect(deck.path, isolation_level=None)
    connection.execute("UPDATE blobs SET packed=0, data=zeroblob(size)")
    connection.close()
    with TapeReader.open(deck.path) as reader:
        (exchange,) = reader.exchanges()
        assert exchange.upstream is not None
        with pytest.raises(TapeTampered):
            assert exchange.upstream.body
