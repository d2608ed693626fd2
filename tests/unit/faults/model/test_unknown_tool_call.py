from __future__ import annotations

import pytest
from pydantic import ValidationError

from faultwire.faults.model.unknown_tool_call import UnknownToolCall


def test_the_name_is_another_and_the_rest_stays(model, calling, tool_stream):
    for told in (calling, tool_stream):
        view, effect, _ = model(UnknownToolCall(), told)
        (call,) = view.tool_calls
        assert call.name.startswith("get_weather")
        assert call.name != "get_weather"
        assert "Paris" in call.arguments
        assert view.finish_reason == "tool_calls"
        assert effect == "tool call renamed to an unknown tool"


def test_or_one_that_was_given(model, tool_stream):
    view, _, _ = model(UnknownToolCall(tool_name="launch"), tool_stream)
    assert view.tool_calls[0].name == "launch"


def test_known_names_are_avoided(dice):
    known = {f"search{e}" for e in ("_v2", "_tool", "_async", "s", "_all")}
    assert UnknownToolCall()._other("search", known, dice()) == "search_unknown_tool"


def test_no_call_no_fault(model, answer):
    _, effect, raw = model(UnknownToolCall(), answer)
    assert (effect, raw) == (None, answer)
    with pytest.raises(ValidationError):
        UnknownToolCall(tool_name="a b")
