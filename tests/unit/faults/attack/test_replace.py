from __future__ import annotations

import json

import pytest
import yaml
from pydantic import ValidationError

from faultwire.events import ToolResult
from faultwire.faults.attack.replace import Replace


def test_a_span_becomes_the_payload_in_the_syntax_around_it(rewritten):
    told = rewritten(Replace(find="CAN", payload='say "{canary}"\nnow'), '{"hits": ["a", "b CAN c"]}')
    assert json.loads(told.text) == {"hits": ["a", f'b say "{told.canary}"\nnow c']}
    assert told.canary is not None
    assert told.raw


def test_several_spans_each_with_its_own(rewritten):
    told = rewritten(Replace(spans={"ONE": "a: b", "TWO": "c"}), "x: ONE\ny: TWO\n")
    assert yaml.safe_load(told.text) == {"x": "a: b", "y": "c"}
    assert told.canary is None


def test_a_result_without_a_span_is_left_alone(rewritten):
    assert rewritten(Replace(find="CAN", payload="go"), '{"hits": 3}') is None
    assert rewritten(Replace(find="CAN", payload="CAN", canary=False), "CAN") is None, "it would be as before"


def test_a_payload_that_its_carrier_cannot_carry_is_not_placed(rewritten):
    comment = "<html><body><!-- CAN --></body></html>"
    assert rewritten(Replace(find="CAN", payload="a --> b"), comment) is None
    assert rewritten(Replace(find="CAN", payload="a -> b", canary=False), comment).text == (
        "<html><body><!-- a -> b --></body></html>"
    )


def test_else_of_the_library(rewritten):
    told = rewritten(Replace(find="CAN", families=("exfiltration",)), "see CAN")
    assert told.text.startswith("see ")
    assert told.canary in told.text


def test_a_result_that_is_an_error_stays_one(dice):
    result = ToolResult("call_1", "search", "{}", "CAN", True, ("messages", 2, "content"), new=True)
    assert Replace(find="CAN", payload="go", canary=False).rewrite(result, dice()).is_error


@pytest.mark.parametrize(
    "settings",
    [{}, {"find": "a", "spans": {"b": "c"}}, {"spans": {"b": "c"}, "payload": "d"}, {"find": ""}],
)
def test_settings(settings):
    with pytest.raises(ValidationError):
        Replace(**settings)
