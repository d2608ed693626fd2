import pytest

from faultwire.checks.excludes_pattern import ExcludesPattern


@pytest.mark.parametrize(
    ("settings", "answer", "expected"),
    [
        ({"patterns": [r"HTTP [45]\d\d"]}, "It said http 503.", "fail"),
        ({"patterns": [r"HTTP [45]\d\d"], "case_sensitive": True}, "It said http 503.", "pass"),
        ({"patterns": ["Traceback", "Error"]}, "All is well.", "pass"),
        ({"patterns": ["a.c"]}, "a\nc", "fail"),
        ({"patterns": ["(a+)+$"]}, "a" * 5000 + "!", "pass"),
        ({"patterns": ["x"], "negate": True}, "x", "pass"),
    ],
)
def test_verdicts(verdict, settings, answer, expected):
    assert verdict(ExcludesPattern(**settings), answer=answer).verdict == expected


def test_a_dead_agent_shows_nothing_when_negated(verdict):
    assert verdict(ExcludesPattern(patterns=["x"], negate=True), answer="", exit_code=-9).verdict == "unknown"


@pytest.mark.parametrize("pattern", ["", "(", r"(a)\1"])
def test_what_is_no_pattern_is_refused(pattern):
    with pytest.raises(ValueError, match=r"patterns|regex"):
        ExcludesPattern(patterns=[pattern])
