from __future__ import annotations

import json

from faultwire.faults.tool.tool_wrong_values import ToolWrongValues


def test_values_change_and_their_form_stays(rewritten):
    rewrite = rewritten(ToolWrongValues(), '{"id": 7, "price": 12.50, "day": "2024-05-01", "ok": true}')
    made = json.loads(rewrite.text)
    assert list(made) == ["id", "price", "day", "ok"]
    assert (made["id"], made["ok"]) == (7, True)
    assert made["price"] != 12.5
    assert made["day"] != "2024-05-01"
    assert not rewrite.is_error


def test_no_facts_no_fault(rewritten):
    assert rewritten(ToolWrongValues(), "all is well") is None
