from __future__ import annotations

import pytest

from faultwire.faults.model.empty_response import EmptyResponse


@pytest.mark.parametrize("finish", ["stop", "length"])
def test_nothing_is_reported_and_everything_else_stays(model, calling, text_stream, finish):
    for told in (calling, text_stream):
        view, effect, raw = model(EmptyResponse(finish=finish), told)
        assert (view.text, view.tool_calls, view.finish_reason, view.model) == ("", (), finish, "m")
        assert effect == "answer emptied"
    assert b"[DONE]" in raw


def test_an_empty_answer_is_left_alone(model, said):
    body = said("")
    _, effect, raw = model(EmptyResponse(), body)
    assert (effect, raw) == (None, body)
