import pytest

from faultwire.events import Arrival, Exchange, Request
from faultwire.tape.evidence.verify import verify
from faultwire.tape.format.arrivals import arrival_members, arrival_of, is_connection
from faultwire.tape.format.events import request
from faultwire.tape.format.validate import check

ARRIVAL = Arrival(connection=3, request=2, open_ms=12.5, ready_ms=0.25, others=1, unused=4)
REQUEST = Request("POST", "https", "h.example", 443, "/v1", (), b"{}")
MEMBER = {"number": 3, "request": 2, "open_ns": 12_500_000, "ready_ns": 250_000, "others": 1, "unused": 4}


def test_there_and_back():
    assert arrival_members(ARRIVAL) == {"connection": MEMBER}
    assert is_connection(MEMBER)
    assert arrival_of({"type": "request", **arrival_members(ARRIVAL)}) == ARRIVAL


def test_where_nobody_saw_it_nothing_is_said():
    assert arrival_members(None) == {}
    assert arrival_of({"type": "request"}) is None


@pytest.mark.parametrize(
    "bent",
    [
        None, [], "1", 3,
        {}, {**MEMBER, "more": 1}, {k: v for k, v in MEMBER.items() if k != "unused"},
        {**MEMBER, "open_ns": -1}, {**MEMBER, "open_ns": 1.5}, {**MEMBER, "others": True},
        {**MEMBER, "number": 0}, {**MEMBER, "request": 0}, {**MEMBER, "unused": 2**53},
        {**MEMBER, "ready_ns": "1"},
    ],
)  # fmt: skip
def test_what_no_tape_holds_is_refused(bent):
    assert not is_connection(bent)


def test_a_tape_says_how_a_request_came_and_one_without_it_is_read(deck):
    for number, arrival in ((1, ARRIVAL), (2, None)):
        recording = deck.writer.record(Exchange("s", number, REQUEST, "llm"))
        recording.arrival = arrival
        recording.request(REQUEST)
        recording.end("complete")
    assert [one.arrival for one in deck.read()] == [ARRIVAL, None]
    assert verify(deck.path).ok


def test_a_bent_member_makes_an_event_none_of_a_tape():
    event = {**request(Exchange("s", 1, REQUEST, "llm"), REQUEST, None, 0), "headers": []}
    check(event)
    check({**event, "connection": MEMBER})
    with pytest.raises(ValueError, match="connection"):
        check({**event, "connection": {**MEMBER, "number": 0}})
