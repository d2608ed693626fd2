from __future__ import annotations

import json
from typing import Any

import pytest

from faultwire.blame.compare import compare, shown, step_of
from faultwire.events import Delivery, Recorded, Request
from faultwire.replay.mask import Masks

URL = "/v1/chat/completions"


def exchange(number: int, asked: str, said: str | None, status: int = 200, **more: Any) -> Recorded:
    body = json.dumps({"model": "m", "messages": [{"role": "user", "content": asked}]}).encode()
    request = Request(
        "POST", "https", "api.openai.com", 443, URL, (("content-type", "application/json"),), body
    )
    choice = {"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": said}}
    answer = json.dumps({"id": f"id-{number}-{said}", "created": number, "model": "m", "choices": [choice]})
    headers = (("content-type", "application/json"),)
    got = None if said is None else Delivery(status, "", headers, answer.encode())
    return Recorded(
        "exec", number, "llm", "openai_chat", "openai", None, request, got, got,
        more.pop("ending", "complete"), None, 0, 0, 1.0, **more,
    )  # fmt: skip


def test_parts_are_requests_of_both_runs_with_other_answers() -> None:
    failed = [exchange(1, "a", "one"), exchange(2, "b", "BAD"), exchange(3, "because BAD", "no")]
    calm = [exchange(1, "a", "one"), exchange(2, "b", "good"), exchange(3, "because good", "yes")]
    found = compare(failed, calm, Masks())
    assert [(part.exchange, part.kind, part.failed, part.calm) for part in found.parts] == [
        (2, "answer", "BAD", "good")
    ]
    assert (found.only_failed, found.only_calm) == (1, 1), "what was asked once only is a consequence"


def test_new_ids_and_dates_are_no_difference() -> None:
    assert not compare([exchange(1, "a", "one")], [exchange(7, "a", "one")], Masks()).parts


def test_a_request_with_its_repeats_is_one_part() -> None:
    failed = [exchange(1, "a", "x", 503), exchange(2, "a", "x", 503)]
    calm = [exchange(1, "a", "x")]
    found = compare(failed, calm, Masks())
    (part,) = found.parts
    assert found.numbers(frozenset({part.key})) == (frozenset({1, 2}), frozenset())
    assert found.numbers(frozenset()) == (frozenset(), frozenset({1}))


def test_a_run_is_answered_from_both_tapes() -> None:
    failed = [exchange(1, "a", "one"), exchange(2, "b", "BAD"), exchange(3, "BAD", "no")]
    calm = [exchange(1, "a", "one"), exchange(2, "b", "good"), exchange(3, "good", "yes")]
    found = compare(failed, calm, Masks())
    key = found.parts[0].key
    assert found.numbers(frozenset({key})) == (frozenset({1, 2, 3}), frozenset({3}))
    assert found.numbers(frozenset()) == (frozenset({1, 3}), frozenset({2, 3}))


@pytest.mark.parametrize(
    ("one", "words"),
    [
        (exchange(1, "a", "hello"), "hello"),
        (exchange(1, "a", None, ending="reset"), "no answer (reset)"),
        (exchange(1, "a", "half", ending="cut"), "half (cut)"),
    ],
)
def test_what_an_agent_got_in_short(one: Recorded, words: str) -> None:
    assert shown(one) == words
    assert shown(exchange(1, "a", "hello", 503)).startswith("503 {")
    assert step_of(one) == "model (openai)"
