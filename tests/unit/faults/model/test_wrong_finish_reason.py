from __future__ import annotations

import pytest

from faultwire.faults.model.wrong_finish_reason import WrongFinishReason


@pytest.mark.parametrize("reason", ["length", "tool_calls", "content_filter"])
def test_only_the_reason_changes(model, answer, text_stream, reason):
    for told in (answer, text_stream):
        view, effect, raw = model(WrongFinishReason(reason=reason), told)
        assert view.finish_reason == reason
        assert effect == "finish reason replaced"
        joined = told if isinstance(told, bytes) else b"".join(told)
        word = f'"{reason}"'.encode()
        assert raw == joined.replace(b'"stop"', word)


def test_the_right_one_is_no_fault(model, answer):
    _, effect, raw = model(WrongFinishReason(reason="stop"), answer)
    assert (effect, raw) == (None, answer)
