from __future__ import annotations

import json

import pytest

from faultwire.faults.tool.tool_schema_drift import ToolSchemaDrift

GIVEN = '{"order_id": 7, "name": "Ann", "lines": [{"count": 2}]}'


@pytest.mark.parametrize(
    ("how", "expected"),
    [
        ("renamed", {"orderId": 7, "title": "Ann", "lines_v2": [{"count_v2": 2}]}),
        ("retyped", {"order_id": "7", "name": ["Ann"], "lines": [{"count": "2"}]}),
        ("nested", {"order_id": {"value": 7}, "name": {"value": "Ann"}, "lines": {"value": [{"count": 2}]}}),
        ("wrapped", {"api_version": "2", "data": json.loads(GIVEN)}),
    ],
)
def test_the_same_values_in_another_shape(rewritten, how, expected):
    assert json.loads(rewritten(ToolSchemaDrift(how=how), GIVEN).text) == expected


@pytest.mark.parametrize("text", ["42 hits", "", "{}", "17"])
def test_what_has_no_shape_is_left_alone(rewritten, text):
    assert rewritten(ToolSchemaDrift(), text) is None
