"""Pictures of requests by which like ones are found, and values that are new in every run.

Covers faultwire.replay.shingles and faultwire.replay.volatile_values.
"""

from __future__ import annotations

from typing import Any

import orjson
import pytest

from faultwire.events import Request
from faultwire.replay.shingles import MOST, WORD_BYTES, WORDS, alike, sketch
from faultwire.replay.volatile_values import only_minted, pairs, parted

UUID, OTHER = "0b0e7a0c-5e0e-4d3a-9c5e-1f2a3b4c5d6e", "1c1f8b1d-6f1f-4e4b-8d6f-2a3b4c5d6e7f"
CALL, INSTANT = "call_AbCdEfGh12", "2026-11-23T12:34:56.789Z"


def picture(body: bytes | None = None, path: str = "/tool") -> frozenset[int]:
    return sketch(Request("POST", "https", "h.example", 443, path, (), body))


def of(value: Any) -> frozenset[int]:
    """The picture of compact JSON: its numbers, and one word."""
    return picture(orjson.dumps(value))


# ---------------------------------------------------------------- pictures


def test_a_request_without_body_and_query_has_an_empty_picture() -> None:
    assert picture() == picture(b"") == frozenset()
    assert alike(picture(), picture()) == 1.0
    assert alike(picture(), of({"a": 1})) == alike(of({"a": 1}), picture()) == 0.0


def test_fields_of_the_query_count_one_each() -> None:
    assert alike(picture(None, "/a?x=1&y=2"), picture(None, "/b?y=2&x=3")) == 1 / 3
    assert alike(picture(None, "/a?x=1?z&y=2"), picture(None, "/a?x=1?z&y=3")) == 1 / 3
    assert len(picture(None, "/a?x=1?z")) == len(picture(None, "/a?x=1&&")) == 1
    assert len(picture(None, "/a?x=1&y=2")) == 2
    assert len(picture(orjson.dumps({"a": [1]}), "/a?x=1&y=2")) == 4


def test_members_of_an_object_count_one_each_and_so_do_elements_of_their_lists() -> None:
    assert len(of({"a": 1, "b": 2})) == 3
    assert alike(of({"a": 1, "b": 2}), of({"a": 1, "b": 3})) == 1 / 5
    assert alike(of({"a": 1}), of({"b": 1})) == 0.0
    assert len(of({"a": 1, "m": [1, 2, 3]})) == 5
    assert alike(of({"m": [1, 2, 3]}), of({"m": [1, 2, 4]})) == 2 / 6
    assert alike(of({"m": [1, 2]}), of({"m": [2, 1]})) == 0.0
    assert alike(of({"m": [1, 2]}), of({"n": [1, 2]})) == 0.0


def test_what_is_no_object_has_its_lines() -> None:
    assert alike(picture(b"one\ntwo"), picture(b"one\nsix")) == 1 / 3  # a line of one word is that word
    assert len(picture(b"one two\nsix")) == 4
    assert len(of([1, 2, 3])) == 1


def test_of_a_long_conversation_the_beginning_and_the_end_are_in_the_picture() -> None:
    whole = list(range(100))
    for place, kept in ((0, False), (31, False), (32, True), (67, True), (68, False), (99, False)):
        changed = of({"m": [*whole[:place], "x", *whole[place + 1 :]]})
        assert len(changed) == MOST + 1
        assert len(changed & of({"m": whole})) == (MOST if kept else MOST - 1), place


def test_few_words_stand_for_all() -> None:
    words = b" ".join(b"w%d" % number for number in range(30))
    assert len(picture(words)) == 1 + WORDS
    assert len(picture(b" ".join(words.split()[:19]))) == 1 + 19


def test_words_are_looked_for_at_both_ends() -> None:
    size = WORD_BYTES
    body = bytearray(b" " * (4 * size))
    inside, outside = (0, size - 4, 3 * size, 4 * size - 4), (size + 8, 2 * size, 3 * size - 8)
    for number, place in enumerate((*inside, *outside)):
        body[place : place + 3] = b"w%02d" % number
    found = picture(bytes(body))
    assert len(found) == 1 + len(inside)  # the line, and the words at the ends
    assert [number for number in range(7) if hash(b"w%02d" % number) in found] == [0, 1, 2, 3]


# ---------------------------------------------------------------- values that are new in every run


def test_minted_values_are_taken_out_in_order_and_their_shapes_stay() -> None:
    text = f"at {INSTANT}: {CALL} and {UUID}, {'0af1' * 8} since 1763900000"
    assert parted(text) == (
        "at \x00instant\x00: \x00id\x00 and \x00uuid\x00, \x00hex\x00 since \x00epoch\x00",
        (INSTANT, CALL, UUID, "0af1" * 8, "1763900000"),
    )
    assert parted("none") == ("none", ())


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        (f"a {UUID} {CALL}", f"a {OTHER} {CALL}", ((UUID, OTHER),)),
        (UUID, UUID, ()),
        ("x", "x", ()),
        ("x", "y", None),
        (f"a {UUID}", f"b {UUID}", None),
        (UUID, CALL, None),
        (1763900000, 1763900009, (("1763900000", "1763900009"),)),
        (1763900000.5, 1763900009.5, (("1763900000.5", "1763900009.5"),)),
        (1, 2, None),
        (True, True, None),
        (None, None, None),
        ([1], [1], None),
        ("x", None, None),
        (None, "x", None),
    ],
)
def test_two_values_differ_in_minted_ones_or_in_others(old: Any, new: Any, expected: Any) -> None:
    assert pairs(old, new) == expected
    assert only_minted(old, new) is (expected is not None)
