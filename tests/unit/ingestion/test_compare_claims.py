"""A log beside the traffic: where the two say the same, where they differ, and what cannot be said."""

from __future__ import annotations

import hashlib
import json
from dataclasses import replace
from typing import Any

import pytest
from tests.unit.checks.conftest import USAGE, call, result, said, talk, used, user

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


AGAIN = {"q": "2*3"}


def twice() -> History:
    """The same tool for two calls at once."""
    wanted = [call("search", json.dumps(ARGUMENTS), "c1"), call("search", json.dumps(AGAIN), "c2")]
    messages = [user(), said("", *wanted), result(json.dumps(RESULT)), result("six", "c2")]
    return History("s", (talk(1, answer="", calls=wanted), talk(2, messages, answer="Both.")))


def reported(arguments: Any = AGAIN, given: Any = "six", *, swapped: bool = False) -> list[Any]:
    """What an agent reports of it; `swapped` where the second tool is the first to end."""
    hashed = (sha(ARGUMENTS), sha(arguments)), (sha(RESULT), sha(given))
    asked, ended = ([{"tool_name": "search", name: one} for one in pair]
                    for name, pair in zip(("args_hash", "result_hash"), hashed, strict=True))  # fmt: skip
    told = [("LLM_CALL", {"model_id": "gpt-4o"}), ("LLM_RESPONSE", {"content_hash": sha("")})]
    told += [("TOOL_CALL", one) for one in asked]
    told += [("TOOL_RESULT", one) for one in (ended[::-1] if swapped else ended)]
    told += [("LLM_CALL", {"model_id": "gpt-4o"}), ("LLM_RESPONSE", {"content_hash": sha("Both.")})]
    return [(at, kind, payload) for at, (kind, payload) in enumerate(told, start=2)]


@pytest.mark.parametrize("swapped", [False, True])
def test_parallel_tools_may_end_in_any_order(swapped: bool) -> None:
    assert judged(reported(swapped=swapped), twice())[1] == []


def test_other_arguments_and_another_result_are_found_where_one_of_the_tools_hashes_is_known() -> None:
    found, differences = judged(reported(arguments={"q": "0"}), twice())
    assert differences == [("tool call", "differs")]
    assert found.differences[0].text == (
        "event 5 claims a tool call (`search`) with another content than that of exchange 1"
    )
    assert judged(reported(given="seven"), twice())[1] == [("tool result", "differs")]


def test_hashes_of_answers_are_no_evidence_of_how_a_tools_are_made() -> None:
    """An agent may hash what it has of a tool otherwise than what it has of a model."""
    text = "its hash fits the content of exchange 1 in no way that is known"
    found, differences = judged(changed(4, args_hash=hashlib.sha256(b"{'q': 17*23}").hexdigest()), wire())
    assert differences == []
    assert [row.text for row in found.unclear] == [f"event 4 claims a tool call (`search`); {text}"]
    assert judged(HONEST, wire())[0].unclear == []


def test_tokens_that_a_log_counts_otherwise_are_found() -> None:
    def with_tokens(into: int, out: int) -> Any:
        usage = {"prompt_tokens": into, "completion_tokens": out}
        return [(1, "LLM_CALL", {}), (2, "LLM_RESPONSE", {"content": "done", "token_usage": usage})]

    history = History("s", (talk(1),))
    wire_in, wire_out = USAGE["prompt_tokens"], USAGE["completion_tokens"]
    assert judged(with_tokens(wire_in, wire_out), history)[1] == []
    found, _ = judged(with_tokens(wire_in, wire_out + 1), history)
    expected = f"event 2 claims a model's answer of {wire_out + 1} tokens; exchange 1 counts {wire_out}"
    assert [row.text for row in found.differences] == [expected]
    found, _ = judged(with_tokens(wire_in + 1, wire_out), history)
    expected = (
        f"event 2 claims a model's answer for {wire_in + 1} tokens of input; exchange 1 counts {wire_in}"
    )
    assert [row.text for row in found.differences] == [expected]
    assert judged(with_tokens(wire_in + 1, 0), History("s", (talk(1, usage=False),)))[1] == []


@pytest.mark.parametrize(
    ("told", "same"), [("stop", True), ("end_turn", True), ("a word of its own", True), ("length", False)]
)
def test_reasons_for_ending_are_compared_in_the_words_of_all_providers(told: str, same: bool) -> None:
    log = [(1, "LLM_CALL", {}), (2, "LLM_RESPONSE", {"content": "done", "finish_reason": told})]
    assert (judged(log, History("s", (talk(1),)))[1] == []) is same


def test_a_content_that_an_sdk_cut_is_no_other_one() -> None:
    history = History("s", (talk(1, answer="word " * 100),))
    cut = [(1, "LLM_CALL", {}), (2, "LLM_RESPONSE", {"content": ("word " * 100)[:200] + "..."})]
    found, differences = judged(cut, history)
    assert (differences, [row.text for row in found.unclear]) == (
        [],
        ["event 2 claims a model's answer; exchange 1 has this content, and more"],
    )
    cut[1] = (2, "LLM_RESPONSE", {"content": "other " * 40})
    assert judged(cut, history)[1] == [("answer", "differs")]


def test_what_came_out_of_a_cache_is_named_and_nothing_that_is_on_the_wire() -> None:
    def log(*answers: str) -> Any:
        for at, text in enumerate(answers):
            yield 2 * at + 1, "LLM_CALL", {"model_id": "gpt-4o"}
            yield 2 * at + 2, "LLM_RESPONSE", {"content_hash": sha(text)}

    history = History("s", (talk(1, answer="one"), talk(2, answer="two", messages=[user("Other?")])))
    found, _ = judged(log("one", "cached", "two"), history)
    assert [row.text for row in found.differences] == [
        "event 3 claims a model call (`gpt-4o`) that the wire does not show",
        "event 4 claims a model's answer that the wire does not show",
    ]
    found, _ = judged(log("one", "one", "two"), history)
    assert [row.text for row in found.differences] == [
        "one of the events 1, 3 claims a model call (`gpt-4o`) that the wire does not show",
        "one of the events 2, 4 claims a model's answer that the wire does not show",
    ]
    assert judged(log("one", "two"), history)[1] == []


def test_embeddings_are_noted_and_no_difference() -> None:
    body = json.dumps({"model": "text-embedding-3-small", "input": ["a"]}).encode()
    request = replace(talk(1).request, path="/v1/embeddings", body=body)
    data = b'{"object": "list", "model": "text-embedding-3-small", "data": [{"embedding": [0.1]}]}'
    delivered = Delivery(200, "", (("content-type", "application/json"),), data)
    one = replace(talk(1), request=request, protocol="embeddings", upstream=delivered, delivered=delivered)
    found, differences = judged(HONEST, History("s", (one, *(replace(it, number=it.number + 1)
                                                            for it in wire().exchanges))))  # fmt: skip
    assert differences == []
    assert found.notes == ["1 exchange for embeddings, of which the format of logs knows no event"]
    claimed = [(0, "LLM_CALL", {"model_id": "text-embedding-3-small"}), (1, "LLM_RESPONSE", {}), *HONEST]
    found, differences = judged(claimed, History("s", (one, *(replace(it, number=it.number + 1)
                                                              for it in wire().exchanges))))  # fmt: skip
    assert (differences, found.notes) == ([], [])


def test_a_tool_that_the_agent_called_by_itself_is_on_the_wire() -> None:
    log = [(1, "TOOL_CALL", {"tool_name": "search"}), (2, "TOOL_RESULT", {"tool_name": "search"})]
    assert judged(log, History("s", (used(1),)))[1] == []
    assert judged(log, History("s", ()))[1] == [
        ("tool call", "claimed only"),
        ("tool result", "claimed only"),
    ]


def test_what_the_agent_made_of_a_tools_answer_is_a_result_too() -> None:
    wanted = call("search", json.dumps(ARGUMENTS))
    last = talk(3, [user(), said("", wanted), result("none found")], answer="No.")
    for status in (200, 500):
        history = History("s", (talk(1, answer="", calls=[wanted]), used(2, status=status), last))
        told = changed(5, result_hash=sha("none found")), changed(5, result_hash=sha("some found"))
        verdicts = [
            next(row.verdict for row in judged(log, history)[0].rows if row.kind == "tool result")
            for log in told
        ]
        assert verdicts == ["same", "not comparable"]


def test_the_edition_that_a_provider_adds_to_a_model_is_no_difference_and_another_model_is() -> None:
    dated = History("s", (talk(1, model="gpt-4o-2024-08-06"),))
    told = [(1, "LLM_CALL", {"model_id": "gpt-4o"}), (2, "LLM_RESPONSE", {"content_hash": sha("done")})]
    assert judged(told, dated)[1] == []
    mini = History("s", (talk(1, model="gpt-4o-mini"),))
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
    told = [(at, kind, {"tool_name": "search"}) for at, kind in ((1, "TOOL_CALL"), (2, "TOOL_RESULT"))]
    assert judged(told, History("s", (used(1),)))[1] == []
    found = judged(told, History("s", (broken,)))[1]
    assert found == [("tool result", "claimed only")]


def test_names_from_a_log_cannot_steer_a_terminal() -> None:
    found, _ = judged([(1, "TOOL_CALL", {"tool_name": "x\x1b[2J"})], History("s", ()))
    assert "\x1b" not in found.rows[0].text
