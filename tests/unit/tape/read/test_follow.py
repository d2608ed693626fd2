import sqlite3

import pytest
from tests.unit.tape.conftest import Deck

from faultwire.errors import TapeTampered
from faultwire.tape.read.follow import TapeFollower
from faultwire.tape.read.reader import TapeReader


@pytest.fixture
def follower(deck: Deck):
    deck.writer.flush()
    with TapeFollower.open(deck.path) as made:
        yield made


def numbers(news):
    return [(one.number, one.ending) for one in news.exchanges]


def test_a_call_is_reported_when_it_begins_and_when_it_ends(deck: Deck, follower: TapeFollower) -> None:
    assert follower.news().opened == ("s",)
    call = deck.begin()
    deck.writer.flush()
    assert numbers(follower.news()) == [(1, "open")]
    call.end("client_aborted", None)
    deck.writer.flush()
    assert numbers(follower.news()) == [(1, "client_aborted")]
    assert numbers(follower.news()) == []


def test_one_that_ended_before_the_next_look_is_reported_once(deck: Deck, follower: TapeFollower) -> None:
    deck.exchange()
    deck.exchange()
    deck.writer.flush()
    assert numbers(follower.news()) == [(1, "complete"), (2, "complete")]


def test_it_reads_what_a_reader_reads(deck: Deck, follower: TapeFollower) -> None:
    deck.exchange()
    deck.exchange(b'{"other":2}')
    deck.writer.close_session("s")
    deck.writer.flush()
    news = follower.news()
    with TapeReader.open(deck.path) as reader:
        assert list(news.exchanges) == list(reader.exchanges())
    assert news.ended == ("s",)


def test_a_long_tape_comes_in_portions(deck: Deck, follower: TapeFollower) -> None:
    for _ in range(5):
        deck.exchange()
    deck.writer.flush()
    told, more = [], True
    while more:
        news = follower.news(3)
        told += [number for number, ending in numbers(news) if ending == "complete"]
        more = news.more
    assert told == [1, 2, 3, 4, 5]
    assert follower.news().more is False


def test_only_a_commit_is_a_change(deck: Deck, follower: TapeFollower) -> None:
    follower.changed()
    assert not follower.changed()
    deck.exchange()
    deck.writer.flush()
    assert follower.changed()
    assert not follower.changed()


def test_it_stops_at_a_row_that_was_changed(deck: Deck) -> None:
    deck.exchange()
    deck.exchange()
    deck.writer.close()
    with sqlite3.connect(deck.path) as connection:
        connection.execute("UPDATE events SET record = CAST(record || ' ' AS BLOB) WHERE seq = 4")
    with TapeFollower.open(deck.path) as follower, pytest.raises(TapeTampered, match="event 4"):
        follower.news()


def test_exchanges_come_in_the_order_of_their_ends_and_none_is_held_after_it(
    deck: Deck, follower: TapeFollower
) -> None:
    first, second = deck.begin(), deck.begin()
    second.end("client_aborted", None)
    deck.writer.flush()
    first.end("client_aborted", None)
    deck.writer.flush()
    assert [number for number, _ in numbers(follower.news())] == [2, 1]
    assert follower._under_way == {}


def test_a_session_that_has_ended_is_not_numbered_on(deck: Deck, follower: TapeFollower) -> None:
    deck.exchange()
    deck.writer.flush()
    (one,) = follower.news().exchanges
    assert set(follower._numbering) == {"s"}
    deck.writer.close_session("s")
    deck.writer.flush()
    follower.news()
    assert follower._numbering == {}
    assert one.n == 0, "who has it can still ask"
