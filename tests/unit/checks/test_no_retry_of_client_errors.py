import pytest

from faultwire.checks._calls import calls
from faultwire.checks.no_retry_of_client_errors import NoRetryOfClientErrors
from faultwire.events import Delivery


@pytest.mark.parametrize(
    ("status", "expected"), [(400, "fail"), (401, "fail"), (429, "unknown"), (503, "unknown")]
)
def test_the_same_again(verdict, wire, status, expected):
    assert verdict(NoRetryOfClientErrors(), [wire.talk(1, status=status), wire.talk(2)]).verdict == expected


def test_a_fixed_request_is_no_repetition(verdict, wire):
    exchanges = [wire.talk(1, status=400), wire.talk(2, [wire.user("shorter")])]
    found = verdict(NoRetryOfClientErrors(), exchanges)
    assert (found.verdict, found.exchanges) == ("pass", (1,))


def test_statuses_are_a_setting(verdict, wire):
    assert (
        verdict(NoRetryOfClientErrors(statuses=[503]), [wire.talk(1, status=503), wire.talk(2)]).verdict
        == "fail"
    )


def test_without_traffic_nothing_is_known(verdict):
    assert verdict(NoRetryOfClientErrors()).verdict == "unknown"


def test_calls_are_distinguished(wire):
    found = calls([wire.talk(1, status=400), wire.talk(2), wire.talk(3), wire.talk(4, [wire.user("x")])])
    assert [call.numbers for call in found] == [[1, 2], [3], [4]]


@pytest.mark.parametrize(("began", "expected"), [(1010, "pass"), (1050, "fail")])
def test_the_same_request_at_the_same_time_is_no_retry(verdict, ok, began, expected):
    denied = Delivery(401, "", (), b"{}", chunks=((2, 40_000_000),))
    exchanges = [ok(n, delivered=denied, at_ms=at) for n, at in ((1, 1000), (2, began))]
    assert verdict(NoRetryOfClientErrors(), exchanges).verdict == expected
