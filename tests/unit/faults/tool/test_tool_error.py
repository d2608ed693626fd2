from __future__ import annotations

import json
from dataclasses import replace

import pytest
from pydantic import ValidationError

from faultwire.events import ToolResult
from faultwire.faults.tool.tool_error import ToolError
from faultwire.wire import protocol

RESULT = ToolResult("call_1", "search", "{}", "42 hits", False, ("messages", 2, "content"), True)


@pytest.mark.parametrize(
    ("settings", "text"),
    [
        ({}, "An error occurred while running the tool. Please try again."),
        ({"message": "no route to host"}, "Error: no route to host"),
        ({"message": "Error: disk full"}, "Error: disk full"),
        ({"message": "ERROR 17"}, "ERROR 17"),
        ({"code": 503}, "Error: 503 Server Error: Service Unavailable"),
        ({"code": 404}, "Error: 404 Client Error: Not Found"),
        ({"code": 599}, "Error: 599 Server Error: unknown"),
    ],
)
def test_words_it_as_frameworks_do(settings, text, dice):
    rewrite = ToolError(**settings).rewrite(RESULT, dice())
    assert (rewrite.text, rewrite.is_error) == (text, True)


def test_only_the_result_changes_in_the_request(dice):
    messages = [
        {"role": "user", "content": "look"},
        {"role": "assistant", "tool_calls": [
            {"id": "call_1", "type": "function", "function": {"name": "search", "arguments": "{}"}}]},
        {"role": "tool", "tool_call_id": "call_1", "content": "42 hits"},
    ]  # fmt: skip
    body = json.dumps({"model": "m", "zzz": 1.50, "messages": messages}).encode()
    openai = protocol("openai_chat")
    (result,) = openai.request_view(body).results
    rewrite = ToolError(code=503).rewrite(result, dice())
    changed = openai.replace_result(body, result, rewrite)
    assert changed == body.replace(b'"42 hits"', json.dumps(rewrite.text).encode())


def test_where_it_acts(chat, web):
    assert ToolError().inapplicable(chat()) is None
    assert ToolError().inapplicable(web) is None
    assert (
        ToolError().inapplicable(replace(web, kind="other")) == "the exchange is `other`, not `llm` or `tool`"
    )


@pytest.mark.parametrize(
    "settings", [{"message": "a", "code": 500}, {"message": ""}, {"code": 200}, {"code": 600}]
)
def test_one_cause(settings):
    with pytest.raises(ValidationError):
        ToolError(**settings)
