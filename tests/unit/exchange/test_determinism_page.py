"""`docs/explanation/determinism.md` says what decisions depend on, what is kept, and what is compared."""

from __future__ import annotations

import json
import re
from collections import Counter
from pathlib import Path
from typing import Any, get_args

import pytest

from faultwire import wire
from faultwire.cli._determinism import ADVICE
from faultwire.dice import Dice
from faultwire.events import Exchange, Outcome, Request
from faultwire.exchange import conversation, session_state
from faultwire.exchange.plan import decide
from faultwire.exchange.session_state import SessionState
from faultwire.faults._api import RequestFault
from faultwire.faults._registry import registry
from faultwire.profile.entry_model import Trigger
from faultwire.profile.load import parse
from faultwire.replay.cause import Cause

ROOT = Path(__file__).parents[3]
PAGE = (ROOT / "docs" / "explanation" / "determinism.md").read_text()
JSON = (("content-type", "application/json"),)


def key(document: dict[str, Any], *headers: tuple[str, str], path: str = "/v1/chat/completions") -> str:
    body = json.dumps(document).encode()
    request = Request("POST", "https", "api.openai.com", 443, path, (*JSON, *headers), body)
    return wire.understand(request).key


def test_the_attacks_on_conversations_are_those_of_the_catalogue() -> None:
    row = next(line for line in PAGE.splitlines() if line.startswith("| on the conversation"))
    attacks = {name for name, fault in registry().items() if issubclass(fault, RequestFault)}
    assert set(re.findall(r"`(\w+)`", row.split("|")[1])) == attacks


CALL: dict[str, Any] = {
    "model": "gpt-4o",
    "messages": [
        {"role": "user", "content": "hi"},
        {"role": "assistant", "tool_calls": [
            {"id": "call_a", "type": "function", "function": {"name": "t", "arguments": "{}"}}]},
        {"role": "tool", "tool_call_id": "call_a", "content": "42"},
    ],
}  # fmt: skip


def test_ids_that_are_minted_for_each_call_count_for_nothing() -> None:
    plain = key(CALL)
    renamed = json.loads(json.dumps(CALL).replace("call_a", "call_b"))
    assert key(renamed) == plain
    for member, values in (("metadata", [{"run": "1"}, {"run": "2"}]), ("user", ["u1", "u2"])):
        assert f"`{member}`" in PAGE
        assert len({key({**CALL, member: value}) for value in values}) == 1
    assert key(CALL, ("idempotency-key", "x1")) == plain
    answers = {"model": "gpt-4o", "input": "hi"}
    earlier = [key({**answers, "previous_response_id": f"resp_{n}"}, path="/v1/responses") for n in (1, 2)]
    assert earlier[0] == earlier[1]
    assert key({**CALL, "model": "gpt-4o-mini"}) != plain, "the control: what is asked counts"
    assert key({**CALL, "temperature": 0.5}) != plain


def test_conversations_are_known_by_the_members_that_it_names() -> None:
    line = next(line for line in PAGE.splitlines() if "that the provider keeps is known by its id" in line)
    told = re.search(r"known by its id \((.*?)\)", line)
    assert told is not None
    declared = {name for one in wire.protocols().values() for name in one.conversation_members}
    assert set(re.findall(r"`(\w+)`", told[1])) == declared


def test_triggers_that_count_are_named() -> None:
    limit = next(line for line in PAGE.splitlines() if line.startswith("2. *Triggers that count"))
    free = {"probability", "no_sdk_retry", "attempts"}
    assert set(re.findall(r"`(\w+)`", limit)) - {"probability"} == set(Trigger.model_fields) - free


def test_equal_calls_agree_on_how_many_get_a_fault_in_any_order() -> None:
    profile = parse("faults: [{rate_limit: , trigger: {probability: 0.5}}]", "p")
    found: Counter[int] = Counter()
    for names in (range(20), reversed(range(20))):
        state, fired = SessionState(), 0
        for _ in names:
            sent = state.identify(Exchange("s", 1, Request("POST", "https", "a", 443, "/"), "llm", key="k"))
            fired += len(decide(profile, Dice(7, "s"), sent, state).firing)
        found[fired] += 1
    assert len(found) == 1
    assert 0 < next(iter(found)) < 20


def test_what_is_remembered() -> None:
    told = re.search(r"The last ([\d,]+) histories", PAGE)
    assert told is not None
    assert int(told[1].replace(",", "")) == conversation.KEPT == session_state.KEPT


def test_the_outcome_of_what_is_changed_again() -> None:
    assert "with the outcome `reapplied`" in PAGE
    assert "reapplied" in get_args(Outcome)


def test_every_cause_of_a_difference_is_explained() -> None:
    table = PAGE.partition("| cause | recognised by | what helps |\n")[2].partition("\n\n")[0]
    causes = [
        name for line in table.splitlines()[1:] for name in re.findall(r"`([\w ]+)`", line.split("|")[1])
    ]
    assert sorted(causes) == sorted({*get_args(Cause), *ADVICE})


@pytest.mark.parametrize("test", re.findall(r"`(tests/[\w/]+\.py)`", PAGE))
def test_the_tests_that_it_names_exist(test: str) -> None:
    assert (ROOT / test).is_file()
