import pytest

from faultwire.checks._transcripts import charged
from faultwire.checks.max_tokens import MaxTokens


@pytest.mark.parametrize(
    ("settings", "expected"),
    [({"max": 30}, 30), ({"max": 20, "of": "input"}, 20), ({"max": 10, "of": "output"}, 10)],
)
def test_sums(verdict, wire, settings, expected):
    found = verdict(MaxTokens(**settings), [wire.talk(1), wire.talk(2)])
    assert (found.verdict, found.value) == ("pass", expected)


def test_more_is_a_failure_and_an_unknown_part_is_reported(verdict, wire):
    exchanges = [wire.talk(1), wire.talk(2, usage=False)]
    assert verdict(MaxTokens(max=14), exchanges).verdict == "fail"
    assert verdict(MaxTokens(max=100), exchanges).verdict == "unknown"
    assert verdict(MaxTokens(max=100), [wire.talk(1), wire.talk(2, status=503)]).verdict == "pass"
    assert verdict(MaxTokens(max=100), [wire.used(1)]).verdict == "unknown"


def test_what_the_provider_counted_is_what_counts(verdict, wire, history):
    whole = wire.talk(1)
    broken = wire.talk(1, upstream=whole.upstream, delivered=wire.talk(1, status=503).delivered)
    assert charged(history("", broken), broken).output_tokens == 5
    assert verdict(MaxTokens(max=14), [broken]).verdict == "fail"


def test_an_answer_that_is_no_json_reveals_nothing(verdict, wire):
    garbage = wire.talk(1)
    made = type(garbage.delivered)(200, "", garbage.delivered.headers, b"\xff{")
    assert verdict(MaxTokens(max=10), [wire.talk(1, delivered=made)]).verdict == "unknown"
