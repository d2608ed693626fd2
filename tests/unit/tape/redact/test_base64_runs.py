"""Secrets in runs of Base64 that begin elsewhere, and which places of a text are in JSON strings.

Covers faultwire.tape.redact.text.
"""

from __future__ import annotations

from base64 import b64encode, urlsafe_b64encode
from collections.abc import Callable

import pytest

from faultwire.tape.redact.text import edits

TOKEN = "AKIAIOSFODNN7EXAMPLE"
"""As long as its shape, so that not one character may be missing."""
KEY = "-----BEGIN EC PRIVATE KEY-----\n"


def replaced(text: str) -> list[str]:
    return [edit.value for edit in edits(text)]


@pytest.mark.parametrize("ahead", ["", "x", "x "])
@pytest.mark.parametrize("junk", ["", "abcd", "abcdE", "abcdEF", "abcdEFG"])
@pytest.mark.parametrize("behind", ["", " ", " y"])
def test_a_secret_is_found_wherever_in_a_run_the_encoding_begins(ahead: str, junk: str, behind: str) -> None:
    run = junk + b64encode((ahead + TOKEN + behind).encode()).decode().rstrip("=")
    assert replaced(f'{{"v": "{run}"}}') == [run]
    short = junk + b64encode((ahead + TOKEN[:-1] + " " + behind).encode()).decode().rstrip("=")
    assert replaced(f'{{"v": "{short}"}}') == [], "the control: one character is missing"


@pytest.mark.parametrize("over", ["", "A", "AA", "AAA", "AAAA"])
@pytest.mark.parametrize("junk", ["", "abcdE", "abcdEF"])
def test_what_stands_over_at_the_end_of_a_run_costs_no_character(junk: str, over: str) -> None:
    run = junk + b64encode(f" {TOKEN}".encode()).decode() + over
    assert replaced(f'{{"v": "{run}"}}') == [run]
    short = junk + b64encode(f" {TOKEN[:-1]}~".encode()).decode() + over
    assert replaced(f'{{"v": "{short}"}}') == [], "the control: one character is missing"


@pytest.mark.parametrize(
    ("secret", "marks"),
    [
        (KEY + "??>" * 8, "-_"),
        (KEY + "a?>" * 8, "-"),
        (KEY + "b?" * 9, "_"),
        ("Bearer ab~~~" + "a~~" * 8, "-"),
    ],
)
@pytest.mark.parametrize("skip", range(3))
@pytest.mark.parametrize("encode", [b64encode, urlsafe_b64encode])
def test_both_alphabets_are_read(
    secret: str, marks: str, skip: int, encode: Callable[[bytes], bytes]
) -> None:
    run = "abcd" + encode(b"x" * skip + secret.encode()).decode().rstrip("=")
    assert run in "".join(replaced(f'{{"v": "{run}"}}'))


@pytest.mark.parametrize(("before", "found"), [("", True), ("xxx ", True), ("xxx", False), ("xxxxxx", False)])
def test_a_word_that_only_ends_like_a_secret_is_none_in_a_run(before: str, found: bool) -> None:
    run = b64encode(f"{before}gsk_{'a1B2' * 12}".encode()).decode()
    assert replaced(f'{{"v": "{run}"}}') == [run] * found
