"""Whether one request was begun before or after another one had failed, by how both came."""

from dataclasses import replace

import pytest
from tests.unit.checks.conftest import LIMITED, exchange

from faultwire.checks._order import LAG_MS, PAUSE_MS, Order, ended_ms, failed_ms, order, unseen
from faultwire.events import Arrival, Delivery

ANSWERED = 1010.0
"""When the first request, which began at 1000, was answered."""


def first(**changes):
    return replace(exchange(1, delivered=LIMITED, at_ms=1000), duration_ms=10.0, arrival=arrival(), **changes)


def arrival(connection=1, request=1, open_ms=20.0, ready_ms=1.0, others=0, unused=0):
    return Arrival(connection, request, open_ms, ready_ms, others, unused)


def after(at_ms, number=2, **how):
    return replace(exchange(number, delivered=LIMITED, at_ms=at_ms), arrival=arrival(**how) if how else None)


def follows(second, before=None, *others):
    before = before or first()
    return Order((before, *others, second)).follows(before, second)


@pytest.mark.parametrize(
    ("second", "expected"),
    [
        # It came before the answer was sent.
        (after(1005, connection=2), False),
        (after(1005), False),
        # On the connection of the first, whose answer is read before it is used again.
        (after(1011, request=2), True),
        (after(1011, request=2, unused=1), None),
        (after(1260, request=2, unused=1), True),
        # On a connection that was opened before the answer, and used when it was ready.
        (after(1011, connection=2, open_ms=30, others=1), False),
        (after(9000, connection=2, open_ms=8500, others=1), False),
        # On one that stood unused until the answer was there.
        (after(1200, connection=2, open_ms=400, ready_ms=250, others=1), None),
        (after(9000, connection=2, open_ms=8500, ready_ms=8000, others=1), True),
        # On one that was opened behind the answer, beside others (its client may be slow to read) or alone.
        (after(1035, connection=2, open_ms=1, others=1), None),
        (after(1265, connection=2, open_ms=1, others=1), True),
        (after(1015, connection=2, open_ms=2, others=0), True),
        # On one that was there already.
        (after(1015, connection=2, request=2, open_ms=500, others=1), None),
        (after(1259, connection=2, request=2, open_ms=500, others=1), None),
        (after(1260, connection=2, request=2, open_ms=500, others=1), True),
        # Nobody saw how it came.
        (after(1011), None),
        (after(1260), True),
    ],
)
def test_which_was_first(second, expected):
    assert follows(second) is expected


def test_over_http_2_a_connection_carries_several_at_once():
    shared = after(1011, request=2)
    assert follows(shared) is True
    assert follows(replace(shared, http2=True), first(http2=True)) is None


def test_a_connection_may_have_been_opened_for_a_request_that_found_another_one():
    """Go and Node give a request that waits for its connection the first one that becomes free."""
    busy = replace(exchange(2, at_ms=1000, body=b"other"), duration_ms=5.0, arrival=arrival(3))
    moved = replace(exchange(3, at_ms=1006, body=b"another"), arrival=arrival(3, request=2))
    second = after(1030, number=4, connection=2, open_ms=35, others=2)
    assert follows(second, first(), busy) is False
    assert follows(second, first(), busy, moved) is None
    elsewhere = replace(moved, request=replace(moved.request, host="other.test"))
    assert follows(second, first(), busy, elsewhere) is False
    waited = replace(moved, started_ms=int(1005 + PAUSE_MS))
    late = replace(second, started_ms=1300, arrival=arrival(2, open_ms=305, others=2))
    assert follows(late, first(), busy, waited) is False, "it waited, and for no connection"


def test_very_many_of_them_leave_it_open():
    moved = [
        replace(exchange(n, at_ms=1000, body=b"%d" % n), duration_ms=0.0, arrival=arrival(3, request=n))
        for n in range(2, 400)
    ]
    second = after(1030, number=400, connection=2, open_ms=35, others=2)
    assert follows(second, first(), *moved) is None


def test_a_client_that_left_knew_it_before_it_was_noted():
    gone = first(ending="client_aborted")
    gone = replace(gone, delivered=None)
    assert failed_ms(gone) == 1010
    assert follows(after(1005, connection=2, open_ms=1), gone) is None
    assert follows(after(int(1008 - LAG_MS), connection=2, open_ms=1), gone) is False
    assert follows(after(1005, connection=2, open_ms=1)) is False


def test_when_a_client_knows_of_a_failure():
    error = Delivery(503, "", (), b"no", chunks=((2, 4_000_000),))
    assert failed_ms(replace(first(), delivered=error)) == 1004
    assert failed_ms(replace(first(), delivered=replace(error, chunks=()))) == ended_ms(first()) == 1010
    half = replace(error, status=200)
    assert failed_ms(replace(first(), delivered=half, ending="cut")) == 1010, "the head was a good one"
    assert failed_ms(replace(first(), delivered=None, ending="reset")) == 1010


def test_a_history_is_put_in_order_once():
    exchanges = (first(), after(1011, request=2))
    assert order(exchanges) is order(exchanges)
    assert order(exchanges).follows(*exchanges) is True


def test_what_is_missing_is_named():
    assert unseen([2], seen=True) == (
        "#2 came within 250 ms of a failed answer, and the wire does not show whether its client had read "
        "that answer"
    )
    assert unseen(range(2, 9), seen=False) == (
        "#2, #3, #4, #5, #6, … came within 250 ms of a failed answer, and it was not recorded on which "
        "connections"
    )
