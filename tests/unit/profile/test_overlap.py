"""Two globs overlap if and only if some text matches both."""

from __future__ import annotations

from itertools import product

import pytest
from hypothesis import given, strategies as st

from faultwire._core import glob_match
from faultwire.profile.overlap import MOST, literal, overlap

globs = st.text("ab*?", max_size=4)
"""Two of them that go on with `*` need a text of three letters each."""
TEXTS = ["".join(letters) for size in range(7) for letters in product("abc", repeat=size)]


@given(globs, globs)
def test_against_every_short_text(one: str, other: str) -> None:
    found = any(glob_match(one, text) and glob_match(other, text) for text in TEXTS)
    assert overlap((one,), (other,)) == found


@pytest.mark.parametrize(
    ("one", "other", "expected"),
    [
        ("https://api.openai.com/*", "https://*.openai.com/*", True),
        ("https://api.openai.com/*", "https://api.anthropic.com/*", False),
        ("gpt-4*", "gpt-?o", True),
        ("", "", True),
        ("", "*", True),
        ("", "?", False),
    ],
)
def test_addresses(one: str, other: str, expected: bool) -> None:
    assert overlap((one,), (other,)) is expected
    assert overlap((other,), (one,)) is expected


def test_one_of_several_is_enough_and_none_of_none() -> None:
    assert overlap(("a", "b"), ("c", "b"))
    assert not overlap(("a", "b"), ("c", "d"))
    assert not overlap((), ("*",))


def test_what_would_take_too_long_counts_as_overlapping() -> None:
    assert overlap(("a" * MOST,), ("bb",)), "not looked at"
    assert not overlap(("a" * 9,), ("bb",))


def test_literal() -> None:
    assert literal("api.openai.com")
    assert not literal("*.openai.com")
    assert not literal("api-?.test")
