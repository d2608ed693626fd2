from __future__ import annotations

import json

import pytest

from faultwire.faults.tool.tool_wrong_units import ToolWrongUnits


def test_numbers_are_in_another_unit_and_names_ids_and_dates_stay(rewritten):
    text = json.dumps({"price": 12.5, "n": [3], "id": "42", "day": "2026-11-28", "at": "07:30", "v2": "x1"})
    told = json.loads(rewritten(ToolWrongUnits(), text).text)
    assert told == {"price": 1250, "n": [300], "id": "42", "day": "2026-11-28", "at": "07:30", "v2": "x1"}
    assert rewritten(ToolWrongUnits(factor=0.01), "It costs 250 euros.").text == "It costs 2.5 euros."


@pytest.mark.parametrize("text", ["no number", '{"id": "7"}', "on 2026-11-28 at 10.1.2.3"])
def test_a_result_without_a_number_of_its_own_is_left_alone(rewritten, text):
    assert rewritten(ToolWrongUnits(), text) is None
