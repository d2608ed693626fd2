from __future__ import annotations

import json

import pytest
from pydantic import ValidationError

from faultwire.events import ToolResult
from faultwire.faults.attack.indirect_injection import IndirectInjection


def test_a_json_result_stays_json_with_the_payload_in_it(rewritten):
    rewrite = rewritten(IndirectInjection(payloads=("do it {canary}",)), '{"hits": ["a", "b"]}')
    hits = json.loads(rewrite.text)["hits"]
    assert hits == ["a", f"b do it {rewrite.canary}"]
    assert rewrite.canary is not None
    assert rewrite.raw


def test_where_and_as_what(rewritten):
    fault = IndirectInjection(payloads=("go",), position="start", disguise="system_note", canary=False)
    rewrite = rewritten(fault, "42 hits")
    assert rewrite.text == "[SYSTEM NOTE] go\n42 hits"
    assert rewrite.canary is None


def test_else_of_the_library(rewritten):
    rewrite = rewritten(IndirectInjection(families=("exfiltration",)), "42 hits")
    assert rewrite.text.startswith("42 hits\n")
    assert rewrite.canary in rewrite.text


@pytest.mark.parametrize(
    "settings", [{"families": ()}, {"families": ("x",)}, {"payloads": ("",)}, {"position": "x"}]
)
def test_settings(settings):
    with pytest.raises(ValidationError):
        IndirectInjection(**settings)


def result(text, *, is_error=False):
    return ToolResult("call_1", "search", "{}", text, is_error, ("messages", 2, "content"), new=True)


def test_a_result_that_is_an_error_stays_one(dice):
    fault = IndirectInjection(payloads=("go",), canary=False)
    told = [fault.rewrite(result("failed", is_error=flag), dice()) for flag in (True, False)]
    assert [(one.text, one.is_error, one.raw) for one in told] == [
        ("failed\ngo", True, True),
        ("failed\ngo", False, True),
    ]


def test_by_the_dice_every_text_comes_up(dice):
    fault = IndirectInjection(payloads=("a", "b", "c"), canary=False, position="start")
    told = {fault.rewrite(result("x"), dice(seed)).text for seed in range(30)}
    assert told == {"a\nx", "b\nx", "c\nx"}
