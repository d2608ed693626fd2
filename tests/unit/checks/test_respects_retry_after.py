from dataclasses import replace

import pytest
from tests.unit.checks.conftest import at_once, in_turn

from faultwire.checks._waits import asked_s
from faultwire.checks.respects_retry_after import RespectsRetryAfter
from faultwire.events import Delivery

DATED = (("retry-after", "Sun, 22 Nov 2026 02:00:03 GMT"), ("date", "Sun, 22 Nov 2026 02:00:00 GMT"))


@pytest.mark.parametrize("wish", [(("retry-after", "3"),), (("Retry-After-Ms", "3000"),), DATED])
@pytest.mark.parametrize(
    ("waited", "expected"),
    [(3000, "pass"), (2950, "pass"), (2000, "fail"), (251, "fail"), (50, "unknown"), (-50, "pass")],
)
def test_the_next_request_comes_in_time(verdict, wire, wish, waited, expected):
    exchanges = [wire.talk(1, status=429, answered=wish), wire.talk(2, started_ms=1100 + waited)]
    assert verdict(RespectsRetryAfter(), exchanges).verdict == expected


def test_who_never_comes_back_or_goes_elsewhere_respects_it(verdict, wire):
    limited = wire.talk(1, status=429, answered=(("retry-after", "60"),))
    never = "1 response asked for a wait, and no later request had the same place, key and model"
    for later in ([], [wire.talk(2, host="other.test")]):
        found = verdict(RespectsRetryAfter(), [limited, *later])
        assert (found.verdict, found.explanation) == ("pass", never)


def test_who_did_not_come_back_is_not_said_to_have_waited(verdict, wire):
    wish = (("retry-after", "1"),)
    limited = [wire.talk(n, status=429, answered=wish, model=f"m{n}") for n in (1, 2, 3)]
    came = [wire.talk(n + 3, started_ms=9000, model=f"m{n}") for n in (1, 2, 3)]

    def said(*returned):
        return verdict(RespectsRetryAfter(), [*limited, *(came[n] for n in returned)]).explanation

    assert said(0, 1, 2) == "3 responses asked for a wait, and the agent waited"
    never = "no later request had the same place, key and model"
    assert said(0, 1) == f"3 responses asked for a wait: the agent waited after 2, and {never} as the other"
    assert said(1) == f"3 responses asked for a wait: the agent waited after 1, and {never} as the others"
    assert said() == f"3 responses asked for a wait, and {never}"


def test_another_model_may_be_asked_at_once(verdict, wire):
    limited = wire.talk(1, status=429, answered=(("retry-after", "60"),), model="large")
    again, other = (wire.talk(2, started_ms=1500, model=model) for model in ("large", "small"))
    assert verdict(RespectsRetryAfter(), [limited, other]).verdict == "pass"
    assert verdict(RespectsRetryAfter(), [limited, again]).verdict == "fail"
    unread = replace(other, request=replace(other.request, body=b"?"))
    assert verdict(RespectsRetryAfter(), [limited, unread]).verdict == "fail"


def test_without_a_wish_nothing_is_known(verdict, wire):
    assert verdict(RespectsRetryAfter(), [wire.talk(1, status=429), wire.talk(2)]).verdict == "unknown"
    strange = wire.talk(1, status=429, answered=(("retry-after", "soon"),))
    assert "in a known format" in verdict(RespectsRetryAfter(), [strange]).explanation


@pytest.mark.parametrize(
    "wish", ["-1", "1e9", "٣", "9" * 400, "", "Sun, 99 Nov 2026 02:00:03 GMT", "x" * 9000]
)
def test_hostile_wishes_are_none(wish):
    assert asked_s(Delivery(429, "", (("retry-after", wish), ("date", wish)), b"")) is None


def test_a_good_answer_asks_nothing():
    assert asked_s(Delivery(200, "", (("retry-after", "3"),), b"")) is None
    assert asked_s(None) is None
    assert asked_s(Delivery(503, "", (("retry-after", "999999999"),), b"")) == 86_400


@pytest.mark.parametrize(("began", "expected"), [(1010, "pass"), (1050, "fail")])
def test_a_request_that_was_on_its_way_already_is_no_return(verdict, ok, began, expected):
    asked = Delivery(429, "", (("retry-after", "2"),), b"{}", chunks=((2, 40_000_000),))
    first = replace(ok(1, delivered=asked, at_ms=1000), duration_ms=60.0)
    others = (ok(2, body=b'{"b": 2}', at_ms=began), ok(3, at_ms=9000))
    known = in_turn(first, *others) if began == 1050 else at_once(first, *others)
    assert verdict(RespectsRetryAfter(), known).verdict == expected


def test_one_of_which_nobody_knows_whether_it_was_on_its_way_is_named(verdict, wire):
    wish = (("retry-after", "3"),)
    near = [wire.talk(1, status=429, answered=wish), wire.talk(2, started_ms=1200)]
    assert verdict(RespectsRetryAfter(), near).explanation == (
        "a request may have come too early: #2 came within 250 ms of a failed answer, and it was not "
        "recorded on which connections"
    )
    assert verdict(RespectsRetryAfter(), in_turn(*near)).verdict == "fail"
    assert verdict(RespectsRetryAfter(), at_once(*near)).verdict == "pass"


@pytest.mark.parametrize(
    ("name", "first", "second", "expected"),
    [
        ("authorization", "Bearer one", "Bearer two", "pass"),
        ("authorization", "Bearer one", "Bearer one", "fail"),
        ("x-api-key", "one", "two", "pass"),
        ("x-trace", "one", "two", "fail"),
        ("authorization", "AWS4-HMAC-SHA256 Signature=one", "AWS4-HMAC-SHA256 Signature=two", "fail"),
    ],
)
def test_a_limit_is_that_of_a_key(verdict, wire, name, first, second, expected):
    def keyed(made, value):
        return replace(made, request=replace(made.request, headers=(*made.request.headers, (name, value))))

    limited = wire.talk(1, status=429, answered=(("retry-after", "60"),))
    exchanges = in_turn(keyed(limited, first), keyed(wire.talk(2), second))
    assert verdict(RespectsRetryAfter(), exchanges).verdict == expected
