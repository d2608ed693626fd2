import re
import time

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


LETTERS = "aZ0_\u00e9"
EVIL = [
    form.replace("X", letter)
    for letter in LETTERS
    for form in (
        "^(X+)+$", "^(X*)*$", "^(X|X)*$", "^(X|XX)+$", "^(X|X?)+$", "(X+)+(X+)+(X+)+Y$",
        "^(.*X){12}$", "X*X*X*X*X*X*X*X*Y", "^((X+)*)+$", "(X{1,30}){1,30}Y$",
    )
]  # fmt: skip
MEGABYTE = 1_000_000


@pytest.mark.nightly
def test_fifty_patterns_take_time_in_proportion_to_the_answer(history):
    """At most 0.4 s of CPU for a megabyte, also on a machine that is slow and busy."""
    assert len(EVIL) == 50
    slow = {}
    for pattern in EVIL:
        letter = next(one for one in LETTERS if one in pattern)
        check, said = Regex(pattern=pattern), history(letter * (MEGABYTE // len(letter.encode())) + "!")
        began = time.process_time()
        assert check.verdict(said).verdict == "fail"
        if (took := time.process_time() - began) > 0.4:
            slow[pattern] = took
    assert slow == {}


def test_control_in_the_standard_library_two_more_letters_take_thrice_the_time():
    def took(letters: int) -> float:
        began = time.process_time()
        assert re.search(EVIL[0], LETTERS[0] * letters + "!") is None
        return time.process_time() - began

    assert took(22) > 3 * took(20)
