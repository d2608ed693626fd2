"""What an agent's own log claims: model calls, answers, tool calls and results, in the log's order."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass, replace
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
_TOKENS = (("prompt_tokens", "completion_tokens"), ("input_tokens", "output_tokens"))
_TOKEN_COUNTS = ("prompt_token_count", "completion_token_count")
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

    `name` is the model or the tool, None where the log does not say; `digest` a SHA-256 of the content, in
    one of the ways of `forms`; `value` the content itself, where the log holds it; `tokens` how many went in
    and came out. `turn` is the same for a call and for its answer, and for a tool call and for its result.
    """

    kind: Kind
    number: int
    name: str | None
    digest: str | None = None
    value: Any = None
    finish: str | None = None
    tokens: tuple[int | None, int | None] = (None, None)
    turn: str | None = None


@dataclass(frozen=True, slots=True)
class Log:
    """The claims of a log, how many errors it reports, and how many events its SDK says to have lost."""

    claims: tuple[Claim, ...]
    errors: int = 0
    lost: int = 0


def log_of(events: Iterable[tuple[int, str, Any]]) -> Log:
    """A log's claims; events are (number, type, payload). What is no claim is passed over."""
    read = [(number, kind, payload) for number, kind, payload in events if isinstance(payload, dict)]
    # LangChain's callback writes the class of its client where a model's name should be
    classes = frozenset(one for _, _, payload in read if isinstance(one := payload.get("model_class"), str))
    claims: list[Claim] = []
    errors = lost = 0
    for number, kind, payload in read:
        if kind in ("TOOL_ERROR", "ERROR"):
            errors += 1
        elif kind == "LOG_DROP":
            counts = (payload.get(name) for name in ("count", "dropped_count", "dropped_events"))
            lost += next((one for one in counts if isinstance(one, int) and one > 0), 1)
        elif kind in _KINDS and "action_type" not in payload:  # which is a decision of LangChain's agent
            claims.append(_claim(_KINDS[kind], number, payload, classes))
    return Log(tuple(_in_turns(claims)), errors, lost)


def _claim(kind: Kind, number: int, payload: dict[str, Any], classes: frozenset[str]) -> Claim:
    of_model = kind in ("call", "answer")
    value = next((payload[one] for one in _TEXTS[kind] if payload.get(one) is not None), None)
    if isinstance(value, str) and any(mark in value for mark in _REDACTED):
        value = None
    generation = _generation(payload) if kind == "answer" else {}
    info = _member(generation, "generation_info")
    finish = ("finish_reason", "stop_reason")
    return Claim(
        kind,
        number,
        _model(payload, classes) if of_model else _named(payload, ("tool_name", "name", "tool")),
        _text(payload, _HASHES[kind]) or _text(generation, ("content_hash",)),
        value,
        _text(payload, finish) or _text(info, finish) if of_model else None,
        _tokens(payload) if kind == "answer" else (None, None),
        _text(payload, ("run_id",)),
    )


def _model(payload: dict[str, Any], classes: frozenset[str]) -> str | None:
    name = _named(payload, ("model_id", "model", "model_name"))
    if name is not None and name not in classes:
        return name
    more = _member(payload, "llm_output"), _member(payload, "metadata")
    return _named(more[0], ("model_name", "model")) or _named(more[1], ("ls_model_name",))


def _named(payload: dict[str, Any], names: Iterable[str]) -> str | None:
    name = _text(payload, names)
    return None if name is None or name.lower() in _NO_NAME else name


def _text(payload: dict[str, Any], names: Iterable[str]) -> str | None:
    found = (payload.get(name) for name in names)
    return next((one for one in found if isinstance(one, str) and one), None)


def _member(payload: dict[str, Any], name: str) -> dict[str, Any]:
    found = payload.get(name)
    return found if isinstance(found, dict) else {}


def _generation(payload: dict[str, Any]) -> dict[str, Any]:
    """An answer as LangChain's callback has it: one for each generation, and it makes one."""
    made = payload.get("generations")
    if not isinstance(made, list) or len(made) != 1 or not isinstance(made[0], dict):
        return {}
    return made[0]


def _tokens(payload: dict[str, Any]) -> tuple[int | None, int | None]:
    output = _member(payload, "llm_output")
    places = [_member(one, name) for one in (output, payload) for name in ("token_usage", "usage")]
    pairs = [(one, names) for one in (*places, payload) for names in _TOKENS] + [(payload, _TOKEN_COUNTS)]
    for where, (into, out) in pairs:
        found = _count(where.get(into)), _count(where.get(out))
        if found != (None, None):
            return found
    return None, None


def _count(value: Any) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else None


def _in_turns(claims: list[Claim]) -> Iterator[Claim]:
    """An answer belongs to the last call before it that has none; a result to the first call of its tool."""
    waiting: dict[Kind, list[Claim]] = {"answer": [], "tool result": []}
    for claim in claims:
        one = claim if claim.turn is not None else replace(claim, turn=f"event {claim.number}")
        if one.kind in ("call", "tool call"):
            waiting["answer" if one.kind == "call" else "tool result"].append(one)
        elif claim.turn is None:
            of = waiting[one.kind]
            calls = [at for at in of if one.kind == "answer" or at.name == one.name]
            if calls:
                call = calls[-1 if one.kind == "answer" else 0]
                of.remove(call)
                one = replace(one, turn=call.turn)
        yield one


def forms(value: Any) -> dict[str, str]:
    """SHA-256 (hex) of what was said, by the ways in which SDKs write it down before they hash it."""
    return {name: hashlib.sha256(data).hexdigest() for name, data in _written(value)}


def tool_messages(text: str, name: str | None, call_ids: Iterable[str]) -> Iterator[str]:
    """SHA-256 (hex) of a tool's result as LangChain hands it to its callbacks: in a message with the id of
    its call."""
    for call_id in call_ids:
        message: dict[str, Any] = {
            "content": text, "additional_kwargs": {}, "response_metadata": {}, "type": "tool", "name": name,
            "id": None, "tool_call_id": call_id, "artifact": None, "status": "success",
        }  # fmt: skip
        yield hashlib.sha256(json.dumps(message, sort_keys=True).encode()).hexdigest()


def _written(value: Any) -> Iterator[tuple[str, bytes]]:
    for name, one in (("", value), (" of its JSON", _parsed(value))):
        if one is None:
            continue
        text = one if isinstance(one, str) else str(one)
        yield f"{'text' if isinstance(one, str) else 'str'}{name}", text.encode("utf-8", "surrogatepass")
        for member in ("raw_input", "raw_output"):  # LangChain's callback, around what is no JSON
            yield f"{member}{name}", json.dumps({member: text}).encode()
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
