from dataclasses import replace

import pytest
from tests.unit.checks.conftest import at_once, in_turn

from faultwire.checks.no_retry_storm import NoRetryStorm


def judge(history, exchanges, **settings):
    return NoRetryStorm(**settings).verdict(history("done", *exchanges))


def test_an_sdks_own_three_attempts_are_no_storm(history, ok, limited):
    verdict = judge(history, [limited(1, retry=0), limited(2, retry=1), ok(3, retry=2)])
    assert verdict.verdict == "pass"
    assert verdict.value == {"attempts": 3, "requests_in_window": 3}


def test_an_agent_that_starts_the_sdk_a_second_time_is_no_storm(history, limited):
    verdict = judge(history, [limited(n, retry=(n - 1) % 3) for n in range(1, 7)])
    assert (verdict.verdict, verdict.value["attempts"]) == ("pass", 6)


def test_retries_stacked_on_retries_are_one_call_and_a_storm(history, limited):
    verdict = judge(history, [limited(n, retry=(n - 1) % 3) for n in range(1, 10)])
    assert verdict.verdict == "fail"
    assert verdict.explanation == "9 attempts of one call to api.openai.com/v1/chat, allowed are 6"
    assert verdict.exchanges == tuple(range(1, 10))


def test_the_limit_is_a_setting(history, limited):
    exchanges = [limited(1), limited(2), limited(3)]
    assert judge(history, exchanges, max_attempts=3).verdict == "pass"
    assert judge(history, exchanges, max_attempts=2).verdict == "fail"


def test_the_same_question_asked_again_after_an_answer_is_no_retry(history, ok):
    verdict = judge(history, [ok(n) for n in range(1, 20)])
    assert (verdict.verdict, verdict.value["attempts"]) == ("pass", 1)


def test_different_bodies_are_different_calls(history, limited):
    verdict = judge(history, [limited(n, body=b"%d" % n) for n in range(1, 10)])
    assert (verdict.verdict, verdict.value["attempts"]) == ("pass", 1)


def test_a_success_in_between_starts_a_new_call(history, ok, limited):
    exchanges = [limited(1), limited(2), ok(3), limited(4), limited(5), ok(6)]
    assert judge(history, exchanges, max_attempts=3).value["attempts"] == 3


def test_the_clients_counter_reports_attempts_that_never_reached_us(history, limited):
    verdict = judge(history, [limited(1, retry=8)])
    assert (verdict.verdict, verdict.value["attempts"]) == ("fail", 9)


@pytest.mark.parametrize("hostile", ["-3", "1e9", "٣", "9" * 4000, "", "x"])
def test_a_hostile_counter_is_not_believed(history, ok, hostile):
    assert judge(history, [ok(1, retry=hostile)]).value["attempts"] == 1


def test_a_flood_of_failing_requests_is_a_storm_even_if_each_differs(history, limited):
    exchanges = [limited(n, body=b"%d" % n, at_ms=100 * n) for n in range(1, 32)]
    verdict = judge(history, exchanges)
    assert verdict.verdict == "fail"
    assert verdict.explanation == (
        "31 requests to api.openai.com/v1/chat within 10 s, half of them or more failing; allowed are 30"
    )
    assert judge(history, exchanges[:-1]).verdict == "pass"


def test_the_same_number_spread_over_time_is_none(history, limited):
    exchanges = [limited(n, body=b"%d" % n, at_ms=1000 * n) for n in range(1, 60)]
    assert judge(history, exchanges).verdict == "pass"


def test_a_busy_agent_whose_calls_succeed_is_none(history, ok):
    exchanges = [ok(n, body=b"%d" % n, at_ms=10 * n) for n in range(1, 200)]
    assert judge(history, exchanges).verdict == "pass"


def test_places_are_counted_apart(history, limited):
    exchanges = [limited(n, body=b"%d" % n, at_ms=n, path=f"/tool/{n % 2}?q={n}") for n in range(60)]
    assert judge(history, exchanges).value["requests_in_window"] == 30


def test_without_traffic_there_is_nothing_to_judge(history):
    assert judge(history, []).verdict == "unknown"


def test_what_the_proxy_itself_refused_is_no_attempt(history, limited, ok):
    refused = [replace(limited(n), ending="refused") for n in range(2, 42)]
    verdict = judge(history, [ok(1), *refused])
    assert (verdict.verdict, verdict.value) == ("pass", {"attempts": 1, "requests_in_window": 0})
    verdict = judge(history, refused)
    assert verdict.verdict == "unknown"
    assert verdict.explanation == "every request was refused by the proxy, so no retry was possible"
    assert judge(history, [limited(n) for n in range(2, 42)]).verdict == "fail"


def quick(limited, count):
    """A server that fails at once, and what comes 5 ms later each."""
    return [limited(n, at_ms=1000 + 5 * n) for n in range(1, count + 1)]


def test_samples_that_an_agent_sends_at_once_are_no_storm(history, limited):
    verdict = judge(history, at_once(*quick(limited, 20)))
    assert (verdict.verdict, verdict.explanation) == ("pass", "at most 1 attempt of one call")


def test_a_loop_as_quick_as_they_is_one(history, limited):
    verdict = judge(history, in_turn(*quick(limited, 20)))
    assert verdict.verdict == "fail"
    assert verdict.explanation == "20 attempts of one call to api.openai.com/v1/chat, allowed are 6"


def test_where_nobody_saw_their_connections_it_is_unknown_which_of_both_it_is(history, limited):
    verdict = judge(history, quick(limited, 7))
    assert verdict.verdict == "unknown"
    assert verdict.explanation == (
        "1 to 7 attempts of one call to api.openai.com/v1/chat: #2, #3, #4, #5, #6, … came within 250 ms of "
        "a failed answer, and it was not recorded on which connections"
    )
    few = judge(history, quick(limited, 6))
    assert (few.verdict, few.explanation) == ("pass", "at most 6 attempts of one call")


def test_what_is_known_may_be_enough(history, limited):
    known = in_turn(*quick(limited, 9))
    verdict = judge(history, (*known, limited(10, at_ms=1051)))
    assert verdict.verdict == "fail"
    assert verdict.explanation == ("at least 9 attempts of one call to api.openai.com/v1/chat, allowed are 6")
