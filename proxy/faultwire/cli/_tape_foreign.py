"""Prints the events of an imported log for `faultwire tape show`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import orjson

from faultwire.cli._conversation import LABEL
from faultwire.clock import iso
from faultwire.text import safe

if TYPE_CHECKING:
    from collections.abc import Iterator

    from faultwire.tape.read.reader import Foreign

_TEXT = 2_000
_TEXT_FIELDS = {
    "MODEL_REQUEST": ("user", ("messages", "prompt", "prompts", "input")),
    "LLM_CALL": ("user", ("messages", "prompt", "prompts", "input")),
    "MODEL_RESPONSE": ("assistant", ("content", "response", "output", "text", "message", "messages")),
    "LLM_RESPONSE": ("assistant", ("content", "response", "output", "text", "message", "messages")),
    "TOOL_CALL": ("assistant", ("args", "arguments", "input")),
    "TOOL_RESULT": ("tool", ("result", "output", "content")),
    "TOOL_ERROR": ("tool", ("error_message", "error", "error_type")),
}
"""The role in an event of each kind, and the members of its payload that may hold the text."""


def lines(foreign: Foreign) -> Iterator[str]:
    """One event: its number, kind and time, and below them its messages or its payload."""
    when = "" if foreign.at_ms is None else f"  {iso(foreign.at_ms)}"
    yield safe(f"{'-' if foreign.number is None else foreign.number}  {foreign.kind}{when}")
    payload = _payload(foreign.data)
    speech = list(_texts(foreign.kind, payload)) if isinstance(payload, dict) else []
    for who, what in speech or [("", _text(payload))]:
        yield f"  {safe(who)[:40].ljust(LABEL)} {safe(_short(what))}".rstrip()


def entry(foreign: Foreign) -> dict[str, Any]:
    """The same as JSON."""
    return {
        "session": foreign.session,
        "number": foreign.number,
        "source": foreign.source,
        "event": foreign.kind,
        "at_ms": foreign.at_ms,
        "payload": _payload(foreign.data),
    }


def _payload(data: bytes) -> Any:
    """The event's payload without its envelope; text if it is not JSON."""
    try:
        value = orjson.loads(data)
    except ValueError:
        return data.decode("utf-8", "backslashreplace")
    return value.get("payload", value) if isinstance(value, dict) else value


def _texts(kind: str, payload: dict[str, Any]) -> Iterator[tuple[str, str]]:
    who, names = _TEXT_FIELDS.get(kind, ("", ()))
    held = next((payload[name] for name in names if payload.get(name) is not None), None)
    if held is None:
        return
    tool = payload.get("tool_name")
    if isinstance(held, list) and held and all(isinstance(one, dict) and "role" in one for one in held):
        for one in held:
            yield _text(one["role"]), _text(one.get("content"))
    elif kind == "TOOL_CALL":
        yield who, f"calls {_text(tool)} {_text(held)}"
    elif tool is not None:
        yield who, f"{_text(tool)} answered: {_text(held)}"
    else:
        yield who, _text(held)


def _text(value: Any) -> str:
    if isinstance(value, str):
        return value
    return orjson.dumps(value).decode()


def _short(text: str) -> str:
    return text if len(text) <= _TEXT else f"{text[: _TEXT - 1]}…"
