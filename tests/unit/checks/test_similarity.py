import sys

import pytest

from faultwire.checks._alike import LONGEST, compared
from faultwire.checks.similarity import Similarity
from faultwire.patterns._semantic import PACKAGE, encoder

SAID = "The capital of France is Paris."


@pytest.mark.parametrize(
    ("settings", "answer", "expected"),
    [
        ({}, SAID, "pass"),
        ({}, "the capital of France is Paris", "pass"),
        ({}, "The capital of France is Lyon.", "fail"),
        ({}, "The capital of France is not Paris.", "fail"),
        ({}, "I cannot help with that.", "fail"),
        ({"threshold": 0}, "Paris is the capital of France.", "pass"),
        ({"threshold": 1.0}, "Paris, France has capital.", "fail"),
        ({}, "The capital of France is the city of Paris.", "unknown"),
        ({"negate": True}, "The capital of France is the city of Paris.", "unknown"),
        ({"negate": True}, "I cannot help with that.", "pass"),
        ({}, "\ud800", "fail"),
        ({}, "x" * (LONGEST + 1), "unknown"),
    ],
)
def test_verdicts(verdict, settings, answer, expected):
    assert verdict(Similarity(expected=SAID, **settings), answer=answer).verdict == expected


def test_what_differs_is_named():
    found = compared("It costs 10 dollars.", "It costs 11 dollars.", "the expected text", 0.1, "words")
    assert found.verdict == "fail"
    assert "10" in found.explanation
    assert "11" in found.explanation


OPEN = ("The licence ends in May.", "The licence lapses for good in May.")


@pytest.mark.parametrize("cosine", [0.5, 0.99, 1.0])
def test_what_words_leave_open_is_unknown_with_the_extra(monkeypatch, cosine):
    monkeypatch.setattr("faultwire.patterns._semantic.similarity", lambda a, b: cosine)
    found = compared(*OPEN, "the expected text", None, "semantic")
    assert found.verdict == "unknown"
    assert "cannot be decided" in found.explanation


def test_what_words_leave_open_is_unknown_without_the_extra(monkeypatch):
    assert compared(*OPEN, "the expected text", None, "words").verdict == "unknown"
    monkeypatch.setitem(sys.modules, PACKAGE, None)  # importing it fails, installed or not
    encoder.cache_clear()
    found = compared(*OPEN, "the expected text", None, "semantic")
    assert found.verdict == "unknown"
    assert "faultwire[semantic]" in found.explanation
