from __future__ import annotations

import pytest

from faultwire.faults.model.dropped_tool_call import DroppedToolCall


@pytest.mark.parametrize(("setting", "reason"), [("fixed", "stop"), ("kept", "tool_calls")])
def test_the_call_is_gone_and_the_text_stays(model, calling, tool_stream, setting, reason):
    for told in (calling, tool_stream):
        view, effect, _ = model(DroppedToolCall(finish_reason=setting), told)
        assert (view.tool_calls, view.finish_reason) == ((), reason)
        assert effect == "tool calls removed"
    assert model(DroppedToolCall(), calling)[0].text == "Let me look."


def test_no_call_no_fault(model, answer, text_stream):
    for told in (answer, text_stream):
        _, effect, raw = model(DroppedToolCall(), told)
        assert (effect, raw) == (None, told if isinstance(told, bytes) else b"".join(told))
