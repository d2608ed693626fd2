"""A tool result's content: a string, or an array of blocks, in the shapes that OpenAI and Anthropic share."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from faultwire.errors import WireError
from faultwire.wire import json_bytes

if TYPE_CHECKING:
    from faultwire.wire.types import Rewrite


def text_of(content: Any, glue: str = "\n") -> str:
    """The text that a content value carries; images and the like carry none."""
    if isinstance(content, str):
        return content
    if not content:
        return ""
    texts = (block_text(block) for _, block in json_bytes.objects(content))
    return glue.join(text for text in texts if text is not None)


def block_text(block: json_bytes.Object) -> str | None:
    """The text of one block, None where it is no block of text."""
    match block.get("type"):
        case "text" | "input_text" | "output_text":
            return json_bytes.string(block.get("text"))
        case "refusal":
            return json_bytes.string(block.get("refusal"))
        case "search_result":
            return text_of(block.get("content"))
        case "document":
            source = block.get("source")
            inner = json_bytes.member(source, "content")
            return text_of(inner) if inner is not None else _plain_document(source)
    return None


def _plain_document(source: Any) -> str | None:
    is_text = json_bytes.member(source, "type") == "text"
    return json_bytes.string(json_bytes.member(source, "data")) if is_text else None


def rewritten(content: bytes, rewrite: Rewrite, *, empty_block: bool, kind: str = "text") -> bytes:
    """The text of a content value with its words replaced, its container type kept.

    Of several text blocks one stays (the one with `cache_control`, else the first), blocks without
    text stay as they are. `empty_block`: may a text block be empty? Else it goes, too. `kind` is the type
    of a text block.
    """
    value = json_bytes.load(content)
    if isinstance(value, list):
        return _rewritten_blocks(content, value, rewrite, empty_block=empty_block, kind=kind)
    return json_bytes.dump(like(text_of(value), rewrite))


def _rewritten_blocks(
    content: bytes, value: list[Any], rewrite: Rewrite, *, empty_block: bool, kind: str
) -> bytes:
    worded = [index for index, block in json_bytes.objects(value) if block_text(block) is not None]
    plain = [index for index in worded if value[index].get("type") == kind]
    cached = [index for index in plain if "cache_control" in value[index]]
    carrier = next(iter(cached or plain), None)
    original = text_of(value) if carrier is None else json_bytes.string(value[carrier].get("text"))
    text = like(original, rewrite)
    if not text and not empty_block:
        carrier = None
    elif carrier is not None:
        content = json_bytes.put(content, (carrier, "text"), json_bytes.dump(text))
    for index in reversed(worded):
        if index != carrier:
            content = json_bytes.drop(content, (index,))
    if carrier is None and (text or empty_block):
        content = json_bytes.insert_first(content, json_bytes.dump({"type": kind, "text": text}))
    return content


def like(original: str, rewrite: Rewrite) -> str:
    """The replacement's text; where the original is a JSON object or array, it is JSON, too."""
    container = _container(original)
    if rewrite.raw or container is None or json_bytes.is_json(rewrite.text):
        return rewrite.text
    if not rewrite.text:
        return "[]" if container is list else "{}"
    wrapped: Any = [rewrite.text] if container is list else {"result": rewrite.text}
    if rewrite.is_error:
        wrapped = {"error": rewrite.text}
    return json_bytes.dump(wrapped).decode()


def _container(text: str) -> type | None:
    if text.lstrip()[:1] not in ("{", "["):
        return None
    try:
        return type(json_bytes.load(text))
    except WireError:
        return None
