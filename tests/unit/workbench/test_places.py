import pytest

from faultwire.exchange.session_state import KEPT
from faultwire.tape.read.span import Span
from faultwire.workbench.places import Places


def ended(places: Places, number: int, key: str = "", n: int = 0, session: str = "s") -> int:
    at = places.put(Span(session, number, number * 2, number * 2 + 1), over=True)
    places.read(at, key or f"k{number}", n)
    return at


def test_an_exchange_keeps_its_place_until_its_end() -> None:
    places = Places()
    assert places.put(Span("s", 1, 3, 3), over=False) == 0
    assert places.put(Span("s", 2, 4, 5), over=True) == 1
    assert places.put(Span("s", 1, 3, 9), over=True) == 0
    assert places.span(0) == Span("s", 1, 3, 9, None)
    places.read(0, "k", 4)
    assert places.span(0) == Span("s", 1, 3, 9, 4)
    assert places._open == {}


def test_changes_are_given_once_each_and_in_portions() -> None:
    places = Places()
    for number in (1, 2):
        ended(places, number)
    assert places.since(0, 100) == (4, [0, 1])
    assert places.since(0, 2) == (2, [0])
    assert places.since(2, 100) == (4, [1])
    assert places.since(4, 100) == (4, [])


def test_retries_have_the_place_of_the_first_attempt() -> None:
    places = Places()
    for number, key in enumerate(["a", "b", "a", "a"], 1):
        ended(places, number, key)
    assert places.retries() == [(2, 0), (3, 0)]
    assert places.retries([1, 3]) == [(3, 0)]
    assert ended(places, 5, "a", n=1) == 4
    assert ended(places, 6, "a", session="other") == 5
    assert [places.head(at) for at in range(6)] == [0, 1, 0, 0, 4, 5]


def test_an_attempt_that_ends_after_its_retry_is_the_first_all_the_same() -> None:
    places = Places()
    slow = places.put(Span("s", 1, 0, 0), over=False)
    for number in (2, 3):
        ended(places, number, "a")
    before = places.revision
    places.put(Span("s", 1, 0, 9), over=True)
    places.read(slow, "a", 0)
    assert places.retries() == [(1, 0), (2, 0)]
    assert 1 in places.since(before, 100).places, "who took it for the first attempt is told"


def test_of_what_has_no_key_nothing_is_a_retry() -> None:
    places = Places()
    for number in (1, 2):
        places.read(places.put(Span("s", number, number, number), over=True), "", 0)
    assert places.retries() == []


def test_the_calls_that_are_remembered_are_bounded() -> None:
    places = Places()
    for number in range(1, KEPT + 11):
        ended(places, number)
    assert len(places._calls) == KEPT


def test_sessions_are_kept_apart() -> None:
    places = Places()
    for number, session in ((7, "a"), (1, "b"), (3, "a")):
        ended(places, number, session=session)
    assert places.of_session("a") == [2, 0], "by their numbers"
    assert places.of_session("a", 1) == [0]
    assert (places.find("a", 3), places.find("b", 3), places.find("c", 1)) == (2, None, None)
    assert places.sessions == ["a", "b"]


def test_it_keeps_some_fifty_bytes_of_each() -> None:
    places = Places()
    for number in range(1, 1_001):
        ended(places, number)
    assert places.size == pytest.approx(50_000, rel=0.15)
