from __future__ import annotations

import pytest

from faultwire.errors import ConfigError, ProfileError
from faultwire.profile.entry_model import Trigger
from faultwire.profile.problems import Problems
from faultwire.profile.yaml import read


def test_nothing_found_raises_nothing():
    problems = Problems("f", ProfileError)
    problems.settle()
    assert len(problems) == 0


def test_problems_are_reported_in_the_order_of_the_file_in_the_given_class():
    problems = Problems("f\x1b", ConfigError)
    problems.add((3, 1), "bad_value", "third", "a hint")
    problems.add((1, 9), "bad_value", "second")
    problems.add((1, 2), "unknown_key", "first")
    with pytest.raises(ConfigError) as caught:
        problems.settle()
    assert caught.value.render().splitlines() == [
        "f\\x1b:1:2: config.unknown_key: first",
        "f\\x1b:1:9: config.bad_value: second",
        "f\\x1b:3:1: config.bad_value: third",
        "hint: a hint",
    ]


def test_build_converts_nothing():
    problems = Problems("f", ProfileError)
    assert problems.build(Trigger, read("{first: 2}", "f"), "trigger") == Trigger(first=2)
    assert problems.build(Trigger, read("", "f"), "trigger") == Trigger()
    assert len(problems) == 0
    for text in ("first: '2'", "first: 2.0", "first: true", "probability: '0.5'", "[]", "5"):
        assert problems.build(Trigger, read(text, "f"), "trigger") is None
    assert len(problems) == 6
