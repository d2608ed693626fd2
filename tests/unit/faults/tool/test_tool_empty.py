from __future__ import annotations

from faultwire.faults.tool.tool_empty import ToolEmpty


def test_nothing_was_found(rewritten):
    rewrite = rewritten(ToolEmpty(), "42 hits")
    assert (rewrite.text, rewrite.is_error) == ("", False)
    assert rewritten(ToolEmpty(), "") is None
