from __future__ import annotations

import json

from faultwire.faults.model.refusal import Refusal


def test_a_refusal_in_place_of_the_answer(model, calling, text_stream, tool_stream):
    for told in (calling, text_stream, tool_stream):
        view, effect, _ = model(Refusal(message="No."), told)
        assert (view.text, view.tool_calls, view.finish_reason) == ("No.", (), "stop")
        assert effect == "answer replaced with a refusal"


def test_a_declared_one_stands_where_the_provider_puts_it(model, calling, text_stream):
    view, _, raw = model(Refusal(message="No.", declared=True), calling)
    message = json.loads(raw)["choices"][0]["message"]
    assert (message["refusal"], message["content"]) == ("No.", None)
    assert view.text == "No."
    _, _, events = model(Refusal(message="No.", declared=True), text_stream)
    assert b'"refusal"' in events
