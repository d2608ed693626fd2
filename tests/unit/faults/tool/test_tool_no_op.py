from __future__ import annotations

import json

from faultwire.faults.tool.tool_no_op import ToolNoOp


def test_success_and_nothing_else(rewritten):
    assert json.loads(rewritten(ToolNoOp(), '{"id": 7}').text) == {"status": "ok"}
    rewrite = rewritten(ToolNoOp(message="Sent."), "Mail 7 was sent.")
    assert (rewrite.text, rewrite.is_error) == ("Sent.", False)
