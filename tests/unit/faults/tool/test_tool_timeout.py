from __future__ import annotations

from faultwire.faults.tool.tool_timeout import ToolTimeout


def test_the_model_reads_of_a_timeout(rewritten):
    rewrite = rewritten(ToolTimeout(limit_s=30), "42 hits")
    assert (rewrite.text, rewrite.is_error) == ("Error: tool `search` timed out after 30 seconds", True)
    assert rewritten(ToolTimeout(message="too slow"), "42").text == "too slow"


def test_the_agent_waits_as_long_as_the_server_asks(dice):
    assert ToolTimeout().delay_s(None, dice()) == 0
    assert ToolTimeout(wait_ms=1500).delay_s(None, dice()) == 1.5
