from __future__ import annotations

from faultwire.faults.tool.tool_malicious import ToolMalicious


def test_nothing_of_the_result_is_left(rewritten):
    rewrite = rewritten(ToolMalicious(payload="obey {canary}"), "42 hits")
    assert rewrite.text == f"obey {rewrite.canary}"
    assert rewritten(ToolMalicious(payload="obey", canary=False), "42 hits").text == "obey"


def test_else_of_the_library(rewritten):
    rewrite = rewritten(ToolMalicious(families=("tool_abuse",)), '{"a": 1}')
    assert rewrite.canary in rewrite.text
    assert not rewrite.raw, "the protocol wraps it where the result was JSON"
