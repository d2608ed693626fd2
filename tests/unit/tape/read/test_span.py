import pytest
from tests.unit.tape.conftest import Deck

from faultwire.errors import TapeIncomplete
from faultwire.tape.read.follow import TapeFollower
from faultwire.tape.read.reader import TapeReader
from faultwire.tape.read.span import Span, SpanReader


def test_an_exchange_is_read_by_its_place_as_a_reader_reads_it(deck: Deck) -> None:
    slow = deck.begin()
    deck.writer.flush()
    deck.exchange()
    deck.exchange()
    deck.writer.flush()
    slow.end("client_aborted", None)
    deck.exchange()
    deck.writer.close_session("s")
    deck.writer.flush()
    with TapeFollower.open(deck.path) as follower:
        news = follower.news()
    with TapeReader.open(deck.path) as reader, SpanReader.open(deck.path) as tape:
        for span in news.spans:
            expected = reader.detail("s", span.number).recorded
            assert tape.at(span._replace(n=expected.n)).recorded == expected, span
        assert [span.number for span in news.spans] == [2, 3, 1, 4]
        slow_span = news.spans[2]
        assert slow_span.first < news.spans[0].first < slow_span.last, "others happened meanwhile"


def test_what_is_not_there_is_named(deck: Deck) -> None:
    deck.exchange()
    deck.writer.flush()
    with SpanReader.open(deck.path) as tape, pytest.raises(TapeIncomplete, match="no exchange 9"):
        tape.at(Span("s", 9, 0, 100))


def test_an_open_one_is_read_as_far_as_it_had_come(deck: Deck) -> None:
    call = deck.begin()
    deck.writer.flush()
    with TapeFollower.open(deck.path) as follower, SpanReader.open(deck.path) as tape:
        (early,) = follower.news().spans
        call.end("client_aborted", None)
        deck.writer.flush()
        (late,) = follower.news().spans
        assert [tape.at(one).recorded.ending for one in (early, late)] == ["open", "client_aborted"]
