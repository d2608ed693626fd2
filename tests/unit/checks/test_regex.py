import pytest

from faultwire.checks.regex import Regex


@pytest.mark.parametrize(
    ("pattern", "answer", "verdict"),
    [
        (r"\b391\b", "it is 391.", "pass"),
        (r"\b391\b", "it is 3910", "fail"),
        (r"a.b", "a\nb", "pass"),
        (r"paris", "Paris", "fail"),
        (r"(?i)paris", "Paris", "pass"),
        (r"^$", "", "pass"),
        (r"\u{301}|é", "é", "pass"),
    ],
)
def test_verdicts(history, pattern, answer, verdict):
    assert Regex(pattern=pattern).verdict(history(answer)).verdict == verdict


def test_the_match_is_shown_and_shortened(history):
    assert Regex(pattern=r"\d+").verdict(history("it is 391")).value == "391"
    assert Regex(pattern=r"x+").verdict(history("x" * 500)).value == "x" * 80


@pytest.mark.parametrize("pattern", ["(", "(?=x)", r"(a)\1"])
def test_what_the_engine_does_not_know_is_refused_at_once(pattern):
    with pytest.raises(ValueError, match="invalid pattern"):
        Regex(pattern=pattern)


def test_no_pattern_hangs_on_any_answer(history):
    assert Regex(pattern=r"^(a+)+$").verdict(history("a" * 50_000 + "!")).verdict == "fail"
