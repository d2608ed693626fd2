from __future__ import annotations

import json

import pytest

from faultwire.faults.tool.tool_malformed import ToolMalformed
from faultwire.wire import protocol


@pytest.mark.parametrize("mistake", ["unclosed", "trailing_comma", "unquoted_key", "html_after"])
def test_json_with_a_mistake_is_kept_raw(rewritten, mistake):
    rewrite = rewritten(ToolMalformed(mistake=mistake), '{"a": 1}')
    assert rewrite.raw
    with pytest.raises(json.JSONDecodeError):
        json.loads(rewrite.text)


def test_prose_is_cut(rewritten):
    assert rewritten(ToolMalformed(), "forty-two hits").text == "forty-t"
    assert rewritten(ToolMalformed(), "") is None


def test_the_model_reads_the_mistake(dice):
    call = {"id": "c", "type": "function", "function": {"name": "s", "arguments": "{}"}}
    messages = [
        {"role": "assistant", "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "c", "content": '{"a": 1}'},
    ]
    openai = protocol("openai_chat")
    body = json.dumps({"model": "m", "messages": messages}).encode()
    (result,) = openai.request_view(body).results
    changed = openai.replace_result(body, result, ToolMalformed().rewrite(result, dice()))
    assert json.loads(changed)["messages"][1]["content"] == '{"a": 1'
