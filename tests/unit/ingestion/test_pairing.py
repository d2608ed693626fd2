"""Which claim belongs to which observation."""

from __future__ import annotations

import hashlib
import time
from dataclasses import replace

import pytest

from faultwire.ingestion.claims import Claim
from faultwire.ingestion.observed import Seen
from faultwire.ingestion.pairing import Pairs, same_name


def sha(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def paired(claims: list[Claim], seen: list[Seen]) -> dict[int | None, int | None]:
    return {claim and claim.number: one and one.exchange for claim, one in Pairs(claims, seen)}


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("gpt-4o", "gpt-4o-2024-08-06", True),
        ("claude-sonnet-4-5", "claude-sonnet-4-5-20250929", True),
        ("gpt-4", "gpt-4-0613", True),
        ("claude-3-5-haiku-latest", "claude-3-5-haiku-20241022", True),
        ("models/gemini-1.5-pro", "gemini-1.5-pro-002", True),
        (None, "gpt-4o", True),
        ("claude-sonnet-4", "claude-sonnet-4-5", False),
        ("gpt-4", "gpt-4-32k", False),
        ("gpt-4o-2024-05-13", "gpt-4o-2024-08-06", False),
        ("gpt-4o", "gpt-4o-mini", False),
        ("search", "search-2", False),
    ],
)
def test_an_edition_is_no_other_model_and_a_version_is(one: str, other: str, same: bool) -> None:
    assert same_name(one, other) is same
    assert same_name(other, one) is same


def test_parallel_calls_of_one_tool_that_end_in_another_order_are_paired_by_their_content() -> None:
    claims = [Claim("tool result", 5, "t", sha("b")), Claim("tool result", 6, "t", sha("a"))]
    seen = [Seen("tool result", 2, "t", "a"), Seen("tool result", 3, "t", "b")]
    assert paired(claims, seen) == {5: 3, 6: 2}


def test_a_name_is_found_whatever_its_place() -> None:
    claims = [Claim("tool call", 1, "a"), Claim("tool call", 2, "b")]
    assert paired(claims, [Seen("tool call", 7, "b"), Seen("tool call", 8, "a")]) == {1: 8, 2: 7}


def test_a_call_follows_its_answer_so_that_the_one_from_a_cache_is_left() -> None:
    claims = [
        Claim(kind, 2 * at + (kind == "answer"), "m", sha(text) if kind == "answer" else None, turn=str(at))
        for at, text in enumerate(("one", "cached", "two"))
        for kind in ("call", "answer")
    ]
    seen = [
        Seen(kind, at, "m", text if kind == "answer" else None, turn=f"exchange {at}")
        for at, text in ((1, "one"), (2, "two"))
        for kind in ("call", "answer")
    ]
    assert paired(claims, seen) == {0: 1, 1: 1, 2: None, 3: None, 4: 2, 5: 2}
    assert Pairs(claims, seen).rivals(claims[2], 9) == [2]


def test_without_contents_any_of_them_may_be_the_one_that_is_missing() -> None:
    claims = [Claim("call", number, "m") for number in (2, 4, 6)]
    pairs = Pairs(claims, [Seen("call", 1, "m"), Seen("call", 2, "m")])
    assert pairs.rivals(claims[2], 9) == [2, 4, 6]
    assert pairs.rivals(claims[2], 2) == [2, 4]
    assert Pairs([claims[0], replace(claims[1], name="n")], []).rivals(claims[0], 9) == [2]


def test_what_logs_have_no_event_for_is_not_taken_for_an_unnamed_claim() -> None:
    claims = [Claim("call", 2, None)]
    seen = [Seen("call", 1, "text-embedding-3-small", no_event=True), Seen("call", 2, "gpt-4o")]
    assert paired(claims, seen) == {2: 2, None: 1}
    named = [Claim("call", 2, "text-embedding-3-small")]
    assert paired(named, seen)[2] == 1


def test_ten_thousand_of_each_are_paired_in_seconds() -> None:
    many = 10_000
    claims = [Claim("tool call", at, "t", sha(str(at))) for at in range(many)]
    seen = [Seen("tool call", at, "t", str(many - at)) for at in range(many)]
    before = time.process_time()
    found = paired(claims, seen)
    assert found[1] == many - 1
    assert time.process_time() - before < 20
