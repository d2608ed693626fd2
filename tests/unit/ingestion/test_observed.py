"""What the wire shows, in the words of a log."""

from __future__ import annotations

import hashlib
import json
from dataclasses import replace

from tests.unit.checks.conftest import call, result, said, talk, used, user

from faultwire.events import History, Request
from faultwire.ingestion.observed import Seen, observed

WANTED = call("search", '{"q": "17*23"}')
ASKS = talk(1, answer="", calls=[WANTED])
GIVEN = json.dumps({"found": 391})


def seen(*exchanges: object) -> list[tuple[str, int, str | None]]:
    return [(one.kind, one.exchange, one.name) for one in observed(History("s", tuple(exchanges)))]


def told(text: str, number: int = 3) -> object:
    return talk(number, [user(), said("", WANTED), result(text)])


def test_a_tool_that_is_called_over_http_is_called_once() -> None:
    found = seen(ASKS, used(2), told(GIVEN))
    assert [one for one in found if one[0].startswith("tool")] == [
        ("tool call", 1, "search"),
        ("tool result", 2, "search"),
    ]


def test_a_tool_that_the_agent_calls_by_itself_is_a_call_too() -> None:
    assert seen(used(1)) == [("tool call", 1, "search"), ("tool result", 1, "search")]
    assert [one[:2] for one in seen(ASKS, used(2), used(3)) if one[0] == "tool call"] == [
        ("tool call", 1),
        ("tool call", 3),
    ]


def test_an_answer_that_was_cut_asks_for_no_tool() -> None:
    broken = talk(1, answer="", calls=[WANTED], status=503)
    assert [one[0] for one in seen(broken)] == ["call"]
    assert [one[0] for one in seen(ASKS)] == ["call", "answer", "tool call"]


def test_a_result_may_be_held_as_the_tool_gave_it_or_as_it_went_to_the_model() -> None:
    history = History("s", (ASKS, used(2, text='{"rows": [391]}'), told("The row is 391.")))
    one = next(one for one in observed(history) if one.kind == "tool result")
    for text in ('{"rows": [391]}', "The row is 391."):
        assert hashlib.sha256(text.encode()).hexdigest() in one.digests()
    assert hashlib.sha256(b"The row is 392.").hexdigest() not in one.digests()


def test_a_tool_that_failed_has_a_result_only_where_the_agent_made_one_of_it() -> None:
    failed = used(2, status=500)
    assert "tool result" not in [one[0] for one in seen(ASKS, failed)]
    assert ("tool result", 2, "search") in seen(ASKS, failed, told("not available"))


def test_a_call_and_its_answer_a_tool_call_and_its_result_are_of_one_turn() -> None:
    turns = {(one.kind, one.exchange): one.turn for one in observed(History("s", (ASKS, told(GIVEN, 2))))}
    assert turns["call", 1] == turns["answer", 1] != turns["call", 2]
    assert turns["tool call", 1] == turns["tool result", 2]


def test_a_secret_that_is_not_on_the_tape_has_no_digest() -> None:
    assert Seen("answer", 1, None, "redacted:v1:" + "0" * 32).digests() == {}
    assert Seen("answer", 1, None, "plain").digests()


def test_embeddings_are_marked_as_what_logs_have_no_event_for() -> None:
    body = json.dumps({"model": "text-embedding-3-small", "input": ["a"]}).encode()
    request = Request("POST", "https", "api.openai.com", 443, "/v1/embeddings", (), body)
    one = replace(ASKS, request=request, protocol="embeddings")
    assert [(one.kind, one.name, one.no_event) for one in observed(History("s", (one,)))][:1] == [
        ("call", "text-embedding-3-small", True)
    ]
