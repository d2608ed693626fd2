"""Valid messages: an answer of each form, with a content block of each type."""

from __future__ import annotations

import json

import pytest

from faultwire.fuzz.discover import METHODS
from faultwire.fuzz.messages import BLOCKS, ID, NOTIFICATIONS, REQUESTS, valid


@pytest.mark.parametrize("method", METHODS)
def test_the_answer_comes_last_and_has_the_id(method):
    for name, text in valid(method).items():
        *before, last = map(json.loads, text.split("\n"))
        assert last["id"] == ID, name
        assert ("result" in last) != ("error" in last)
        assert all("method" in one for one in before)


def test_each_block_notification_and_request_is_there():
    names = set(valid("tools/call"))
    assert {
        *NOTIFICATIONS,
        *REQUESTS,
        *(f"block {one}" for one in BLOCKS),
        "no block",
        "error -32603",
    } <= names
    assert not {f"block {one}" for one in BLOCKS} & set(valid("tools/list"))


def test_what_a_server_gave_is_kept():
    seen = {"tools": [{"name": "order", "inputSchema": {"type": "object"}}]}
    made = valid("tools/list", seen)
    assert json.loads(made["seen"])["result"] == seen
    assert [one["name"] for one in json.loads(made["twice the tools"])["result"]["tools"]] == ["order"] * 2
    assert len(json.loads(made["a thousand tools"])["result"]["tools"]) == 1001
    assert "usual" in valid("tools/list")
