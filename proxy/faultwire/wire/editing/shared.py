"""What edits of several protocols share: replacing a set of tool calls, spreading text over events."""

from __future__ import annotations

from typing import TYPE_CHECKING

from faultwire import _core
from faultwire.wire import json_bytes

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from faultwire.events import Path, ToolCall


def pieces(text: str, count: int) -> list[str]:
    """A text in about equal pieces, so that as many events carry the new text as carried the old."""
    count = max(1, min(count, len(text)))
    size, more = divmod(len(text), count)
    out, at = [], 0
    for number in range(count):
        end = at + size + (number < more)
        out.append(text[at:end])
        at = end
    return out


def rebuilt(
    elements: Sequence[bytes],
    calls: dict[int, ToolCall],
    wanted: Sequence[ToolCall],
    edit: Callable[[bytes, ToolCall], bytes],
) -> bytes:
    """A JSON array of `elements`, of which those in `calls` (by index) become the `wanted` calls.

    A call that is as it was keeps its bytes; a new one is an edited copy of the last one.
    """
    left = list(wanted)
    out: list[bytes] = []
    for index, element in enumerate(elements):
        old = calls.get(index)
        if old is None:
            out.append(element)
            continue
        new = next((call for call in left if call.id == old.id), None)
        if new is not None:
            left.remove(new)
            out.append(element if new == old else edit(element, new))
    model = elements[max(calls)] if calls else b"{}"
    out.extend(edit(model, call) for call in left)
    return b"[" + b",".join(out) + b"]"


def elements(text: bytes, path: Path) -> list[bytes]:
    """The values of the array at `path`, as they stand there."""
    found = json_bytes.span(text, path)
    if found is None:
        return []
    array = text[slice(*found)]
    return [array[start:end] for _, start, end in _core.json_children(array, [])]


def rewrite_texts(body: bytes, changed: dict[Path, str]) -> bytes:
    """The body with the strings at these paths replaced and every other byte kept."""
    for path, text in changed.items():
        body = json_bytes.put(body, path, json_bytes.dump(text))
    return body
