from __future__ import annotations

from faultwire.faults.tool.tool_stale import ToolStale


def test_the_earlier_result_comes_again(rewritten):
    assert rewritten(ToolStale(), "new", earlier="old").text == "old"


def test_a_first_result_and_an_equal_one_are_left_alone(rewritten):
    assert rewritten(ToolStale(), "new") is None
    assert rewritten(ToolStale(), "same", earlier="same") is None
