"""Users' patterns (`faultwire._core`, module matching)."""

from __future__ import annotations

import pytest

from faultwire import _core


@pytest.mark.parametrize(
    ("pattern", "text", "expected"),
    [
        ("b+", "aabb", (2, 4)),
        ("b+", "é€😀bb", (3, 5)),
        ("😀", "é😀", (1, 2)),
        ("", "abc", (0, 0)),
        ("x", "abc", None),
        ("(?i)ABC$", "xabc", (1, 4)),
        (r"\d{3}", "١٢٣", (0, 3)),
        ("b", "\ud800\udfff\ud83db", (3, 4)),
    ],
)
def test_search(pattern, text, expected):
    regex = _core.Regex(pattern)
    assert regex.search(text) == expected
    assert regex.is_match(text) is (expected is not None)


@pytest.mark.parametrize(
    ("pattern", "text", "expected"),
    [
        ("aba", "ababa-aba", [0, 2, 6]),
        ("b", "é😀b\ud83db", [2, 4]),
        ("x", "abc", []),
        ("", "é€", [0, 1, 2]),
    ],
)
def test_all_places_where_matches_begin(pattern, text, expected):
    assert _core.Regex(pattern).starts(text) == expected


@pytest.mark.parametrize(
    ("pattern", "reason"),
    [
        ("(?=a)", "look-around, including look-ahead and look-behind, is not supported"),
        (r"(a)\1", "backreferences are not supported"),
        ("(", "unclosed group"),
        ("*", "repetition operator missing expression"),
        (r"\w{5000}", "Compiled regex exceeds size limit of 4194304 bytes."),
    ],
)
def test_refusals_give_the_reason(pattern, reason):
    with pytest.raises(ValueError, match=r"^invalid pattern `") as caught:
        _core.Regex(pattern)
    assert str(caught.value) == f"invalid pattern `{pattern}`: {reason}"


def test_a_nested_repetition_is_harmless():
    assert _core.Regex("^(a+)+$").search("a" * 100_000 + "b") is None


def test_a_pattern_shows_itself():
    regex = _core.Regex("it's")
    assert regex.pattern == "it's"
    assert repr(regex) == """Regex("it's")"""


@pytest.mark.parametrize(
    ("pattern", "text", "expected"),
    [
        ("", "", True),
        ("*", "", True),
        ("?", "", False),
        ("search*", "search_web", True),
        ("*.openai.com", "api.openai.com", True),
        ("*.openai.com", "openai.com", False),
        ("a*b*c", "a-b-b-c", True),
        ("a*b*c", "a-b-b-c-", False),
        ("gpt-?", "gpt-é", True),
        ("Search", "search", False),
        ("[ab]", "a", False),
        ("?", "\ud800", True),
    ],
)
def test_glob(pattern, text, expected):
    assert _core.glob_match(pattern, text) is expected
