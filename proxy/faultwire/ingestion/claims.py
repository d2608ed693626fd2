"""What an agent's own log claims: model calls, answers, tool calls and results, in the log's order."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from faultwire import _core

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

Kind = Literal["call", "answer", "tool call", "tool result"]
KINDS: tuple[Kind, ...] = ("call", "answer", "tool call", "tool result")
_KINDS: dict[str, Kind] = {
    "LLM_CALL": "call",
    "MODEL_REQUEST": "call",
    "LLM_RESPONSE": "answer",
    "MODEL_RESPONSE": "answer",
    "TOOL_CALL": "tool call",
    "TOOL_RESULT": "tool result",
}
_NO_NAME = ("", "unknown")
_TEXTS: dict[Kind, tuple[str, ...]] = {
    "call": (),
    "answer": ("content", "response", "output", "text"),
    "tool call": ("args", "arguments", "input"),
    "tool result": ("result", "output", "content"),
}
_HASHES: dict[Kind, tuple[str, ...]] = {
    "call": (),
    "answer": ("content_hash",),
    "tool call": ("args_hash",),
    "tool result": ("result_hash",),
}
_REDACTED = ("[REDACTED]", "***")


@dataclass(frozen=True, slots=True)
class Claim:
    """One event that claims something of the wire.

    `name` is the model or the tool, None where the log does not say; `digest` a SHA-256 of what was said, in
    one of the ways of `forms`; `value` what was said itself, where the log holds it.
    """

    kind: Kind
    number: int
    name: str | None
    digest: str | None = None
    value: Any = None
    finish: str | None = None


@dataclass(frozen=True, slots=True)
class Log:
    """The claims of a log, how many errors it reports, and how many events its SDK says to have lost."""

    claims: tuple[Claim, ...]
    errors: int = 0
    lost: int = 0


def log_of(events: Iterable[tuple[int, str, Any]]) -> Log:
    """A log's claims; events are (number, type, payload). What is no claim is passed over."""
    claims: list[Claim] = []
    errors = lost = 0
    for number, kind, payload in events:
        if not isinstance(payload, dict):
            continue
        if kind in ("TOOL_ERROR", "ERROR"):
            errors += 1
        elif kind == "LOG_DROP":
            counts = (payload.get(name) for name in ("count", "dropped_count", "dropped_events"))
            lost += next((one for one in counts if isinstance(one, int) and one > 0), 1)
        elif kind in _KINDS:
            claims.append(_claim(_KINDS[kind], number, payload))
    return Log(tuple(claims), errors, lost)


def _claim(kind: Kind, number: int, payload: dict[str, Any]) -> Claim:
    of_model = kind in ("call", "answer")
    named = ("model_id", "model", "model_name") if of_model else ("tool_name", "name", "tool")
    name = _text(payload, named)
    if name is not None and (name.lower() in _NO_NAME or name == payload.get("model_class")):
        name = None  # LangChain's callback writes the class of its client where a model's name should be
    value = next((payload[one] for one in _TEXTS[kind] if payload.get(one) is not None), None)
    if isinstance(value, str) and any(mark in value for mark in _REDACTED):
        value = None
    digest = _text(payload, _HASHES[kind]) or _of_generations(kind, payload)
    return Claim(kind, number, name, digest, value, _text(payload, ("finish_reason", "stop_reason")))


def _text(payload: dict[str, Any], names: Iterable[str]) -> str | None:
    found = (payload.get(name) for name in names)
    return next((one for one in found if isinstance(one, str) and one), None)


def _of_generations(kind: Kind, payload: dict[str, Any]) -> str | None:
    """The hash of an answer as LangChain's callback has it: one for each generation, and it makes one."""
    made = payload.get("generations")
    if kind != "answer" or not isinstance(made, list) or len(made) != 1 or not isinstance(made[0], dict):
        return None
    found = made[0].get("content_hash")
    return found if isinstance(found, str) else None


def forms(value: Any) -> dict[str, str]:
    """SHA-256 (hex) of what was said, by the ways in which SDKs write it down before they hash it."""
    return {name: hashlib.sha256(data).hexdigest() for name, data in _written(value)}


def _written(value: Any) -> Iterator[tuple[str, bytes]]:
    for name, one in (("", value), (" of its JSON", _parsed(value))):
        if isinstance(one, str):
            yield f"text{name}", one.encode("utf-8", "surrogatepass")
        if one is None:
            continue
        try:
            yield f"dumps{name}", json.dumps(one, sort_keys=True).encode()
            yield f"compact{name}", json.dumps(one, sort_keys=True, separators=(",", ":")).encode()
            yield f"canonical{name}", bytes(_core.jcs(json.dumps(one).encode()))
        except (TypeError, ValueError, RecursionError):
            continue


def _parsed(value: Any) -> Any:
    """The value of JSON text; None for what is none."""
    if not isinstance(value, str):
        return None
    try:
        return json.loads(value)
    except (ValueError, RecursionError):
        return None
