from __future__ import annotations

import json

import pytest

from faultwire.faults.tool.tool_partial import ToolPartial


def test_the_end_of_the_longest_list_is_left_out(rewritten):
    text = json.dumps({"page": [1], "orders": [{"id": 1}, {"id": 2}, {"id": 3}, {"id": 4}], "ok": True})
    told = json.loads(rewritten(ToolPartial(), text).text)
    assert told == {"page": [1], "orders": [{"id": 1}, {"id": 2}], "ok": True}
    assert rewritten(ToolPartial(keep=0.3), "a\nb\nc\nd\n").text == "a\n"


@pytest.mark.parametrize("text", ["one line", '{"a": [1]}', '{"a": 5}', ""])
def test_a_result_without_parts_is_left_alone(rewritten, text):
    assert rewritten(ToolPartial(), text) is None
