"""Changes of MCP messages that keep every other byte: a tool's result, and what a server lists."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from faultwire.errors import WireError
from faultwire.wire import json_bytes
from faultwire.wire.editing import tool_content
from faultwire.wire.framing import sse
from faultwire.wire.mcp.jsonrpc import messages

if TYPE_CHECKING:
    from collections.abc import Callable, Collection

    from faultwire.events import Path
    from faultwire.wire.mcp.jsonrpc import Id, Message
    from faultwire.wire.types import Rewrite

    Rewriter = Callable[[str, bool], Rewrite | None]
    """What becomes of a result's text, and whether it was an error; None where it stays."""


def in_event(event: bytes, edit: Callable[[bytes], bytes]) -> bytes:
    """An event with its data edited; one that carries no message stays."""
    fields = sse.fields(event)
    if fields is None or fields.name not in ("", "message") or not fields.data:
        return event
    data = edit(fields.data)
    return (
        event if data == fields.data else sse.with_data(event, data.replace(b"\r", b" ").replace(b"\n", b" "))
    )


def answers(data: bytes, ids: Collection[Id]) -> list[Message]:
    """The results in this data that answer one of these requests."""
    try:
        found = messages(data)
    except WireError:
        return []
    return [one for one in found if one.is_answer and one.result is not None and one.id in ids]


def rewritten(data: bytes, ids: Collection[Id], rewrite: Rewriter) -> bytes:
    """A message or batch with the tool results that answer `ids` rewritten."""
    for message in answers(data, ids):
        data = _rewritten(data, message, rewrite)
    return data


def _rewritten(data: bytes, message: Message, rewrite: Rewriter) -> bytes:
    result = message.result or {}
    new = rewrite(message.text, message.is_error)
    if new is None:
        return data
    place: Path = (*message.path, "result")
    found = json_bytes.span(data, (*place, "content"))
    content = data[slice(*found)] if found else b"[]"
    put = tool_content.rewritten(content, new, empty_block=True)
    data = json_bytes.put(data, (*place, "content"), put)
    if new.is_error != bool(result.get("isError")):
        data = json_bytes.put(data, (*place, "isError"), b"true" if new.is_error else b"false")
    if "structuredContent" not in result:
        return data
    structured = _structured(message.text, result["structuredContent"], new, rewrite)
    where = (*place, "structuredContent")
    return json_bytes.drop(data, where) if structured is None else json_bytes.put(data, where, structured)


def _structured(text: str, structured: Any, new: Rewrite, rewrite: Rewriter) -> bytes | None:
    """What the typed half of a result becomes, so that both halves say the same; None where it goes.

    Clients check it against the tool's `outputSchema` and read it before the words.
    """
    if new.is_error:
        return None
    if structured == {"result": text}:  # how SDKs wrap a plain string
        return json_bytes.dump({"result": json_bytes.whole(tool_content.like(text, new))})
    if _parsed(text) == structured:
        return _as_object(tool_content.like(text, new))
    typed = json_bytes.dump(structured).decode()
    again = rewrite(typed, False)
    return json_bytes.dump(structured) if again is None else _as_object(tool_content.like(typed, again))


def _as_object(text: str) -> bytes | None:
    return text.encode() if isinstance(_parsed(text), dict) else None


def _parsed(text: str) -> Any:
    try:
        return json_bytes.load(text)
    except WireError:
        return None


# ---------------------------------------------------------------- lists


def listed(data: bytes, ids: Collection[Id]) -> list[tuple[Path, json_bytes.Object]]:
    """The tools in the answers to `tools/list`, each with its path."""
    return [
        ((*message.path, "result", "tools", at), tool)
        for message in answers(data, ids)
        for at, tool in json_bytes.objects((message.result or {}).get("tools"))
    ]


def with_descriptions(data: bytes, ids: Collection[Id], describe: Callable[[str, str], str]) -> bytes:
    """The list with other descriptions: `describe` is given a tool's name and what it says of itself."""
    for path, tool in listed(data, ids):
        old = json_bytes.string(tool.get("description"))
        new = describe(json_bytes.string(tool.get("name")), old)
        if new != old:
            data = json_bytes.put(data, (*path, "description"), json_bytes.dump(json_bytes.whole(new)))
    return data


def without_tools(data: bytes, ids: Collection[Id], goes: Callable[[str], bool]) -> bytes:
    """The list without the tools whose names `goes` is true of."""
    for path, tool in reversed(listed(data, ids)):
        if goes(json_bytes.string(tool.get("name"))):
            data = json_bytes.drop(data, path)
    return data


def with_schemas(
    data: bytes, ids: Collection[Id], change: Callable[[str, json_bytes.Object], json_bytes.Object]
) -> bytes:
    """The list with other schemas of arguments."""
    for path, tool in listed(data, ids):
        old = tool.get("inputSchema")
        new = change(json_bytes.string(tool.get("name")), old) if isinstance(old, dict) else old
        if new != old:
            data = json_bytes.put(data, (*path, "inputSchema"), json_bytes.dump(new))
    return data
