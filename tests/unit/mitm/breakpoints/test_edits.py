"""Edits of what is held, and what is said of them."""

from __future__ import annotations

import pytest
from tests.unit.mitm.breakpoints.conftest import chat

from faultwire.errors import UsageError
from faultwire.events import ToolCall
from faultwire.mitm.breakpoints import edits
from faultwire.mitm.breakpoints.veil import Veil
from faultwire.mitm.settings import DecisionSettings

CALL = ToolCall("c1", "get_weather", '{"city": "Paris", "days": 3}')


def edited(**call):
    asked = DecisionSettings.model_validate({"held": "h1", "calls": [call]})
    return edits.calls_edited((CALL,), asked, Veil({}))


@pytest.mark.parametrize(
    ("call", "words"),
    [
        ({"members": {"city": "Rome"}}, "`city` of `get_weather`"),
        ({"members": {"city": "Rome", "unit": "F"}}, "`city`, `unit` of `get_weather`"),
        ({"arguments": '{"city": "Paris"}'}, "`days` of `get_weather`"),
        ({"arguments": "{broken"}, "the arguments of `get_weather`"),
        ({"name": "get_time"}, "the call of `get_weather`, now of `get_time`"),
        ({"members": {"city": "Paris"}}, ""),
    ],
)
def test_an_edit_is_described_by_names_and_never_by_values(call: dict, words: str) -> None:
    _, told = edited(**call)
    assert told == words
    assert "Rome" not in told


def test_members_of_what_is_no_object_cannot_be_set() -> None:
    asked = DecisionSettings.model_validate({"held": "h1", "calls": [{"members": {"a": 1}}]})
    with pytest.raises(UsageError, match="no JSON object"):
        edits.calls_edited((ToolCall("c", "t", "[1]"),), asked, Veil({}))


def test_a_body_that_is_too_long_can_go_on_but_is_not_shown() -> None:
    exchange = chat(messages=[{"role": "user", "content": "x" * (edits.SHOWN + 1)}])
    shown = edits.request_shown(exchange, Veil({}), None)
    assert "body" not in shown
    assert "texts" not in shown
    assert shown["url"] == "https://api.openai.com/v1/chat/completions"
