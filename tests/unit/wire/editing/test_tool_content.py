"""A tool result's content: faultwire.wire.editing.tool_content."""

from __future__ import annotations

import json

from faultwire.wire.editing import tool_content
from faultwire.wire.types import Rewrite

BLOCKS = [
    {"type": "text", "text": "one"},
    {"type": "image", "source": {}},
    {"type": "text", "text": "two", "cache_control": {"type": "ephemeral"}},
]


def test_text_is_read_in_every_shape() -> None:
    assert tool_content.text_of("plain") == "plain"
    assert tool_content.text_of(BLOCKS) == "one\ntwo"
    assert tool_content.text_of(None) == ""
    document = {"type": "document", "source": {"type": "text", "data": "page"}}
    assert tool_content.block_text(document) == "page"
    assert tool_content.block_text({"type": "image"}) is None


def test_of_several_texts_the_cached_one_stays_and_images_do() -> None:
    new = tool_content.rewritten(json.dumps(BLOCKS).encode(), Rewrite("new"), empty_block=True)
    assert json.loads(new) == [BLOCKS[1], {**BLOCKS[2], "text": "new"}]


def test_an_empty_text_goes_where_none_may_be_empty() -> None:
    new = tool_content.rewritten(json.dumps(BLOCKS).encode(), Rewrite(""), empty_block=False)
    assert json.loads(new) == [BLOCKS[1]]


def test_json_stays_json() -> None:
    assert json.loads(tool_content.like('{"temp": 21}', Rewrite("broken"))) == {"result": "broken"}
    assert json.loads(tool_content.like("[1]", Rewrite("broken"))) == ["broken"]
    assert tool_content.like("[1", Rewrite("broken")) == "broken", "that was no JSON"
