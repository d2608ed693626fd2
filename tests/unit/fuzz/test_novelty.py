"""What counts as new: call shapes, endings and tries, and not what was said."""

from __future__ import annotations

from dataclasses import replace

from tests.unit.checks.conftest import call, talk, used

from faultwire.events import AgentResult, History
from faultwire.fuzz.novelty import Novelty, features, grams, shape


def seen(*exchanges, code=0, timed_out=False):
    return features(History("s", exchanges, agent=AgentResult("x", code, 1.0, "", timed_out)))


def test_words_are_sequences_of_one_to_three():
    assert grams(["a", "b"]) == {"^", "a", "b", "$", "^ > a", "a > b", "b > $", "^ > a > b", "a > b > $"}


def test_other_calls_keys_statuses_endings_and_tries_are_new():
    novelty = Novelty()
    assert novelty.new(seen(talk(1), used(2)))
    for other in (
        seen(talk(1), used(2, status=500)),
        seen(talk(1, calls=[call("search", '{"q": 1}')]), used(2)),
        seen(talk(1, calls=[call("search", '{"z": 1}')]), used(2)),
        seen(used(2), talk(1)),
        seen(talk(1), used(2), code=1),
        seen(talk(1), used(2), timed_out=True),
        seen(talk(1), replace(used(2), attempt=1)),
    ):
        assert novelty.new(other), other
        assert not novelty.new(other), "known now"


def test_words_are_not_new():
    novelty = Novelty()
    novelty.new(seen(talk(1, answer="a")))
    assert not novelty.new(seen(talk(1, answer="b")))
    assert not novelty.new(seen(replace(talk(1), duration_ms=9)))


def test_values_of_arguments_are_not_new_and_their_keys_are():
    words = [
        shape(History("s", (talk(1, calls=[call("search", text)]),)))[0]
        for text in ('{"q": 1}', '{"q": 2}', "[")
    ]
    assert words[0] == words[1] != words[2]
    assert "search(q)" in words[0]
