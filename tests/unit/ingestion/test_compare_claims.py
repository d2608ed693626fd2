"""A log beside the traffic: where the two say the same, where they differ, and what cannot be said."""

from __future__ import annotations

import hashlib
import json
from dataclasses import replace
from typing import Any

import pytest
from tests.unit.checks.conftest import call, result, said, talk, used, user

from faultwire.events import Delivery, History
from faultwire.history import Bypass
from faultwire.ingestion.claims import log_of
from faultwire.ingestion.compare_claims import Comparison, compare

ARGUMENTS, RESULT = {"q": "17*23"}, {"found": 391}


def sha(value: Any) -> str:
    return hashlib.sha256(json.dumps(value, sort_keys=True).encode()).hexdigest()


def wire(**changed: Any) -> History:
    """A model asks for a tool and then says what it found."""
    wanted = call("search", json.dumps(ARGUMENTS))
    first = talk(1, answer="", calls=[wanted])
    messages = [user(), said("", wanted), result(changed.pop("text", json.dumps(RESULT)))]
    second = talk(2, messages, answer=changed.pop("answer", "It is 391."), **changed)
    return History("s", (first, second))


HONEST: list[tuple[int, str, dict[str, Any]]] = [
    (2, "LLM_CALL", {"model_id": "gpt-4o"}),
    (3, "LLM_RESPONSE", {"content_hash": sha(""), "finish_reason": "tool_calls"}),
    (4, "TOOL_CALL", {"tool_name": "search", "args_hash": sha(ARGUMENTS)}),
    (5, "TOOL_RESULT", {"tool_name": "search", "result_hash": sha(RESULT)}),
    (6, "LLM_CALL", {"model_id": "gpt-4o"}),
    (7, "LLM_RESPONSE", {"content_hash": sha("It is 391."), "finish_reason": "stop"}),
]


def changed(number: int, **payload: Any) -> list[tuple[int, str, dict[str, Any]]]:
    return [(at, kind, {**told, **payload} if at == number else told) for at, kind, told in HONEST]


def judged(log: Any, history: History) -> tuple[Comparison, list[tuple[str, str]]]:
    found = compare(log_of(log), history)
    return found, [(row.kind, row.verdict) for row in found.differences]


def test_an_honest_log_and_its_traffic_say_the_same() -> None:
    found, differences = judged(HONEST, wire())
    assert differences == []
    assert [row.verdict for row in found.rows] == ["same"] * 6
    assert [row.claim.number for row in found.rows if row.claim] == [2, 3, 4, 5, 6, 7]
    assert found.notes == []


@pytest.mark.parametrize(
    ("log", "expected"),
    [
        (changed(2, model_id="gpt-4.1"), [("call", "differs")]),
        (changed(4, tool_name="delete_all"), [("tool call", "differs")]),
        (changed(4, args_hash=sha({"q": "2+2"})), [("tool call", "differs")]),
        (changed(5, result_hash=sha({"found": 0})), [("tool result", "differs")]),
        (changed(7, content_hash=sha("It is 400.")), [("answer", "differs")]),
        (changed(7, finish_reason="length"), [("answer", "differs")]),
        ([*HONEST, (8, "TOOL_CALL", {"tool_name": "check_policy"})], [("tool call", "claimed only")]),
        ([one for one in HONEST if one[0] != 4], [("tool call", "seen only")]),
        (
            [one for one in HONEST if one[0] not in (4, 5)],
            [("tool call", "seen only"), ("tool result", "seen only")],
        ),
        (
            [*(one for one in HONEST if one[0] != 4), (8, "TOOL_CALL", {"tool_name": "other"})],
            [("tool call", "differs")],
        ),
        ([one for one in HONEST if one[0] < 6], [("call", "seen only"), ("answer", "seen only")]),
    ],
)  # fmt: skip
def test_what_was_changed_made_up_or_left_out_is_found_and_nothing_else(log: Any, expected: Any) -> None:
    assert judged(log, wire())[1] == expected


def test_the_date_that_a_provider_adds_to_a_model_is_no_difference_and_another_model_is() -> None:
    dated = wire(model="gpt-4o-2024-08-06")
    dated = replace(dated, exchanges=(talk(1, model="gpt-4o-2024-08-06"),))
    told = [(1, "LLM_CALL", {"model_id": "gpt-4o"}), (2, "LLM_RESPONSE", {"content_hash": sha("done")})]
    assert judged(told, dated)[1] == []
    mini = replace(dated, exchanges=(talk(1, model="gpt-4o-mini"),))
    assert judged(told, mini)[1] == [("call", "differs")]


def test_a_hash_that_is_made_in_no_known_way_is_not_comparable() -> None:
    salted = [(at, kind, {name: one if "hash" not in name else "f" * 64 for name, one in told.items()})
              for at, kind, told in HONEST]  # fmt: skip
    found, differences = judged(salted, wire())
    assert differences == []
    assert [row.verdict for row in found.rows].count("not comparable") == 4


def test_a_secret_that_is_not_on_the_tape_is_not_comparable() -> None:
    hidden = json.dumps({"found": "redacted:v1:" + "0" * 32})
    found, differences = judged(changed(5, result_hash=sha({"found": "sk-live"})), wire(text=hidden))
    assert differences == []
    assert ("tool result", "not comparable") in [(row.kind, row.verdict) for row in found.rows]


def test_attempts_of_one_call_are_one_claim_and_a_failure_that_is_not_reported_is_noted() -> None:
    limited = talk(1, status=429)
    again = replace(
        talk(2, started_ms=1200),
        request=replace(limited.request, headers=(("x-stainless-retry-count", "1"),)),
    )
    told = [(1, "LLM_CALL", {"model_id": "gpt-4o"}), (2, "LLM_RESPONSE", {"content_hash": sha("done")})]
    found, differences = judged(told, History("s", (limited, again)))
    assert differences == []
    assert found.notes == ["1 exchange failed on the wire; the log reports no error"]
    told.append((3, "TOOL_ERROR", {"error_type": "RateLimitError"}))
    assert judged(told, History("s", (limited, again)))[0].notes == []


def test_that_calls_may_have_gone_past_the_proxy_is_noted_where_traffic_did() -> None:
    past = replace(wire(), bypassed=(Bypass("203.0.113.5", 443),))
    assert judged(HONEST, past)[0].notes == [
        "calls may be missing from the tape, since traffic went past the proxy: 203.0.113.5:443"
    ]
    assert judged(HONEST, wire())[0].notes == []


def test_events_that_its_sdk_lost_are_noted() -> None:
    found, _ = judged([*HONEST, (8, "LOG_DROP", {"count": 4})], wire())
    assert found.notes == ["its SDK says that 4 events of the log were lost"]


def test_what_a_log_holds_in_words_is_compared_as_such() -> None:
    told = [(1, "MODEL_REQUEST", {"model": "gpt-4o"}), (2, "MODEL_RESPONSE", {"content": "done"})]
    assert judged(told, History("s", (talk(1),)))[1] == []
    told[1] = (2, "MODEL_RESPONSE", {"content": "another"})
    assert judged(told, History("s", (talk(1),)))[1] == [("answer", "differs")]


def test_an_answer_that_never_came_cannot_have_been_given() -> None:
    dead = replace(talk(1), delivered=Delivery(503, "", (), b"{}"))
    told = [(1, "LLM_CALL", {"model_id": "gpt-4o"}), (2, "LLM_RESPONSE", {"content_hash": sha("done")})]
    assert judged(told, History("s", (dead,)))[1] == [("answer", "claimed only")]


def test_a_tool_that_failed_has_no_result_to_be_claimed() -> None:
    broken = used(1, status=500)
    assert judged([(1, "TOOL_RESULT", {"tool_name": "search"})], History("s", (used(1),)))[1] == []
    found = judged([(1, "TOOL_RESULT", {"tool_name": "search"})], History("s", (broken,)))[1]
    assert found == [("tool result", "claimed only")]


def test_names_from_a_log_cannot_steer_a_terminal() -> None:
    found, _ = judged([(1, "TOOL_CALL", {"tool_name": "x\x1b[2J"})], History("s", ()))
    assert "\x1b" not in found.rows[0].text
