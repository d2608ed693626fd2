from __future__ import annotations

from dataclasses import replace

import pytest

from faultwire.events import RequestView, ToolCall, ToolResult, Turn
from faultwire.wire.editing.token_budget import Budget, count, of_request


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("", 0),
        ("one", 1),
        ("one two", 2),
        (" one  two ", 3),
        ("a-b", 3),
        ("don't", 3),
        ("日本語", 3),
        ("  ", 1),
    ],
)
def test_count(text: str, tokens: int) -> None:
    assert count(text) == tokens


@pytest.mark.parametrize(
    ("budget", "kept"), [(1, "one"), (2, "one two"), (3, "one two,"), (4, "one two, three")]
)
def test_take_stops_before_the_token_that_is_too_much(budget: int, kept: str) -> None:
    spent = Budget(budget)
    assert spent.take("one two, three") == kept
    assert spent.spent is (kept != "one two, three")
    assert spent.used == budget


def test_once_spent_nothing_more_is_reported() -> None:
    budget = Budget(1)
    assert budget.take("one two") == "one"
    assert budget.take("x") == ""
    assert not budget.enter("next")


def test_a_part_begins_a_token_of_its_own() -> None:
    budget = Budget(2)
    assert budget.enter("text")
    budget.take("one")
    assert budget.enter("call")
    budget.take("f")
    assert budget.used == 2
    assert not budget.spent
    assert not budget.enter("another call")
    assert budget.spent


def test_blanks_are_read_in_linear_time() -> None:
    assert count(" " * 1_000_000) == 1


def test_a_request_has_the_tokens_of_its_words_calls_and_results() -> None:
    call, result = ToolCall("c", "look", '{"a": 1}'), ToolResult("c", "look", "", "found it", False, (), True)
    plain = RequestView("m", False, "be brief", (Turn("user", "hello there"),))
    tools = replace(
        plain, turns=(*plain.turns, Turn("assistant", "", (call,)), Turn("tool", "", (), (result,)))
    )
    assert of_request(plain) == 2 + 2 + 3 + 3
    assert of_request(tools) - of_request(plain) == count('look {"a": 1}') + 2 + 2 * 3
