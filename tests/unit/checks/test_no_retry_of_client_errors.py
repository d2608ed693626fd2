from dataclasses import replace

import pytest
from tests.unit.checks.conftest import at_once, in_turn

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


def test_what_the_proxy_refused_itself_was_rejected_by_no_server(verdict, wire):
    first, second = wire.talk(1, status=422), wire.talk(2)
    assert verdict(NoRetryOfClientErrors(), [first, second]).verdict == "fail"
    ours = replace(first, upstream=None)
    assert verdict(NoRetryOfClientErrors(), [ours, second]).verdict == "unknown"
    by_fault = replace(ours, faults=(wire.line("status", site="response"),))
    assert verdict(NoRetryOfClientErrors(), [by_fault, second]).verdict == "fail"


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
    known = in_turn(*exchanges) if began == 1050 else at_once(*exchanges)
    assert verdict(NoRetryOfClientErrors(), known).verdict == expected
    found = verdict(NoRetryOfClientErrors(), exchanges)
    assert found.verdict == ("pass" if began == 1010 else "unknown")
    assert ("a wrong request may have been repeated: #2 came within" in found.explanation) is (began == 1050)


def test_how_often_is_said(verdict, wire):
    words = "a request to api.openai.com/v1/chat/completions was sent {} after status 400"
    once = [wire.talk(1, status=400), wire.talk(2)]
    assert verdict(NoRetryOfClientErrors(), once).explanation == words.format("again")
    twice = [wire.talk(1, status=400), wire.talk(2, status=400), wire.talk(3)]
    assert verdict(NoRetryOfClientErrors(), twice).explanation == words.format("2 more times")


def sent(exchange, *headers, method="POST"):
    return replace(exchange, request=replace(exchange.request, headers=headers, method=method))


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        ((), (("Authorization", "Bearer redacted:v1:a"),), "pass"),
        ((("mcp-session-id", "1"),), (("MCP-Session-Id", "2"),), "pass"),
        ((("Authorization", "Bearer a"),), (("authorization", "Bearer a"),), "fail"),
        ((("x-request-id", "1"),), (("x-request-id", "2"),), "fail"),
    ],
    ids=["a token", "another session", "the same token", "another name for it"],
)
def test_a_request_with_other_headers_is_no_repetition(verdict, ok, before, after, expected):
    denied = Delivery(401, "", (), b"{}")
    exchanges = [sent(ok(1, delivered=denied), *before), sent(ok(2), *after)]
    assert verdict(NoRetryOfClientErrors(), exchanges).verdict == expected


@pytest.mark.parametrize(
    ("method", "by_fault", "expected"),
    [("GET", False, "unknown"), ("GET", True, "fail"), ("POST", False, "fail")],
)
def test_a_client_may_wait_for_what_is_not_there_yet(verdict, ok, wire, method, by_fault, expected):
    missing = ok(1, delivered=Delivery(404, "", (), b"{}"))
    missing = replace(missing, faults=(wire.line("status", site="response"),) if by_fault else ())
    exchanges = [sent(missing, method=method), sent(ok(2), method=method)]
    assert verdict(NoRetryOfClientErrors(), exchanges).verdict == expected


@pytest.mark.parametrize("name", ["Anthropic-Beta", "OpenAI-Organization", "x-goog-user-project"])
def test_what_a_provider_is_asked_otherwise_is_another_request(verdict, wire, name):
    first, second = in_turn(wire.talk(1, status=400), wire.talk(2))
    again = replace(second, request=replace(second.request, headers=(*second.request.headers, (name, "a"))))
    assert verdict(NoRetryOfClientErrors(), [first, again]).verdict == "pass"
    traced = replace(
        second, request=replace(second.request, headers=(*again.request.headers[:-1], ("x-trace", "a")))
    )
    assert verdict(NoRetryOfClientErrors(), [first, traced]).verdict == "fail"
