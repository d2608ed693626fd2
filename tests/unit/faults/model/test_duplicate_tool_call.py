from __future__ import annotations

import pytest

from faultwire.faults.model.duplicate_tool_call import DuplicateToolCall, other


@pytest.mark.parametrize("copies", [1, 3])
def test_the_same_call_with_other_ids(model, calling, tool_stream, copies):
    for told in (calling, tool_stream):
        view, effect, _ = model(DuplicateToolCall(copies=copies), told)
        assert len(view.tool_calls) == copies + 1
        assert len({call.id for call in view.tool_calls}) == copies + 1
        assert len({(call.name, call.arguments) for call in view.tool_calls}) == 1
        assert effect == "tool call repeated"


def test_a_long_id_keeps_its_length():
    assert other("call_0123456789ab", 0) == "call_0123456789d1"
    assert other("c1", 0) == "c1_d1"


def test_no_call_no_fault(model, answer):
    _, effect, raw = model(DuplicateToolCall(), answer)
    assert (effect, raw) == (None, answer)
