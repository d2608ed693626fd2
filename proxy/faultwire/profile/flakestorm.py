"""Flakestorm's `chaos:` shape, translated into ours while it is read: nothing downstream knows two shapes.

Names and defaults are Flakestorm 2.0's. Each place in a translated entry is the place in the user's
file, so that errors name it. What Flakestorm accepted and never did is a warning.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from faultwire.errors import did_you_mean
from faultwire.profile.yaml import Node, shown

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import TypeAlias

    from faultwire.profile.problems import Problems

    Warn: TypeAlias = Callable[[Node, str], None]

Fields = dict[str, Node]

PARTS = ("tool_faults", "llm_faults", "context_attacks")
_TOOL = (
    "tool",
    "mode",
    "match_url",
    "delay_ms",
    "error_code",
    "message",
    "probability",
    "after_calls",
    "payload",
)
_LLM = (
    "mode", "max_tokens", "delay_ms", "probability", "after_calls", "drift_type", "severity", "direction",
    "factor",
)  # fmt: skip
_ATTACK = (
    "type", "enabled", "inject_tokens", "payloads", "trigger_probability", "inject_at", "payload", "strategy",
)  # fmt: skip
_TOOL_MODES = ("timeout", "error", "malformed", "slow", "malicious_response")
_LLM_MODES = ("timeout", "truncated_response", "rate_limit", "empty", "garbage", "response_drift")
_ATTACKS = (
    "overflow",
    "conflicting_context",
    "injection_via_context",
    "indirect_injection",
    "memory_poisoning",
)


def entries(chaos: Node, problems: Problems, warn: Warn) -> Iterator[Node]:
    """Our entries for a `chaos:` block, each with the place of what it came from."""
    fields = problems.mapping(chaos, "`chaos`")
    for key, node in (fields or {}).items():
        if key not in PARTS:
            problems.unknown(node, key, "`chaos`", list(PARTS))
    sections = fields or {}
    for node in _items(sections.get("tool_faults"), "tool_faults", problems):
        yield from _made(node, _tool(node, problems, warn))
    for node in _items(sections.get("llm_faults"), "llm_faults", problems):
        yield from _made(node, _llm(node, problems))
    for node in _attacks(sections.get("context_attacks"), problems):
        yield from _made(node, _attack(node, problems, warn))


def _items(node: Node | None, what: str, problems: Problems) -> Iterator[Node]:
    if node is None or node.value is None:
        return
    if not isinstance(node.value, list):
        problems.add(node, "bad_value", f"found {shown(node.value)} for `{what}`, expected a list")
        return
    yield from node.value


def _attacks(node: Node | None, problems: Problems) -> Iterator[Node]:
    """The list form as it is; the form with a type as key as if the type stood inside."""
    if node is None or not isinstance(node.value, dict):
        yield from _items(node, "context_attacks", problems)
        return
    for kind, settings in node.value.items():
        place = settings.key or (settings.line, settings.column)
        inner: Fields = dict(settings.value) if isinstance(settings.value, dict) else {}
        if isinstance(settings.value, bool):
            inner["enabled"] = settings
        elif settings.value is not None and not isinstance(settings.value, dict):
            problems.add(
                settings, "bad_value", f"found {shown(settings.value)} for `{kind}`, expected a mapping"
            )
        inner["type"] = Node(kind, *place, place)
        yield Node(inner, *place, settings.key)


def _made(node: Node, fields: Fields | None) -> Iterator[Node]:
    if fields is not None:
        yield Node(fields, node.line, node.column, node.key)


def _known(node: Node, keys: tuple[str, ...], what: str, problems: Problems) -> Fields:
    fields = problems.mapping(node, what) or {}
    for key, value in fields.items():
        if key not in keys:
            problems.unknown(value, key, what, list(keys))
    return fields


def _word(node: Node, fields: Fields, key: str, words: tuple[str, ...], problems: Problems) -> str | None:
    """The value of a key that must be one of some words; None where it is not, which is noted."""
    found = fields.get(key)
    if found is not None and found.value in words:
        return str(found.value)
    expected = f"one of {', '.join(words)}"
    if found is None:
        problems.add(node, "bad_value", f"found no `{key}`, expected {expected}")
    else:
        hint = did_you_mean(str(found.value), words)
        problems.add(found, "bad_value", f"found {shown(found.value)} for `{key}`, expected {expected}", hint)
    return None


def _node(like: Node, value: str | int | float | bool | Fields | None) -> Node:
    place = like.key or (like.line, like.column)
    return Node(value, like.line, like.column, place)


def _taken(fields: Fields, **names: str) -> Fields:
    """Settings by our names, from theirs."""
    return {ours: fields[theirs] for ours, theirs in names.items() if theirs in fields}


def _entry(
    node: Node, fields: Fields, fault: str, settings: Fields, on: Fields, share: str = "probability"
) -> Fields:
    made: Fields = {fault: Node(settings, node.line, node.column, (node.line, node.column))}
    if on:
        made["on"] = _node(node, on)
    trigger = _taken(fields, probability=share, after_calls="after_calls")
    if trigger:
        made["trigger"] = _node(node, trigger)
    return made


# ---------------------------------------------------------------- tools


def _tool(node: Node, problems: Problems, warn: Warn) -> Fields | None:
    fields = _known(node, _TOOL, "a tool fault", problems)
    mode = _word(node, fields, "mode", _TOOL_MODES, problems)
    if "tool" not in fields:
        problems.add(node, "bad_value", "found no `tool`, expected a tool's name or `*`")
        return None
    if mode is None:
        return None
    url = fields.get("match_url")
    if url is not None and mode == "malicious_response":
        warn(url, "`match_url` is not used: the payload is in the tool result that the model reads")
        url = None
    if url is not None:
        warn(url, "`match_url` matches the tool's own address; Flakestorm compared it with the agent's")
        fault, settings = _http_tool(node, fields, mode)
        return _entry(node, fields, fault, settings, {"url": url})
    fault, settings = _result_tool(node, fields, mode)
    on = {} if fields["tool"].value == "*" else {"tool": fields["tool"]}
    return _entry(node, fields, fault, settings, on)


def _http_tool(node: Node, fields: Fields, mode: str) -> tuple[str, Fields]:
    match mode:
        case "error":
            return "status", {"code": _node(node, 503)} | _taken(fields, code="error_code", message="message")
        case "malformed":
            return "malformed_body", {}
        case "slow":
            return "latency", {"ms": _node(node, 5000)} | _taken(fields, ms="delay_ms")
    return "hang", {"for_ms": _node(node, 30_000)} | _taken(fields, for_ms="delay_ms")


def _result_tool(node: Node, fields: Fields, mode: str) -> tuple[str, Fields]:
    match mode:
        case "error":
            if "message" in fields:
                return "tool_error", _taken(fields, message="message")
            return "tool_error", {"code": _node(node, 503)} | _taken(fields, code="error_code")
        case "malformed":
            return "tool_malformed", {}
        case "slow":
            return "tool_slow", {"ms": _node(node, 5000)} | _taken(fields, ms="delay_ms")
        case "timeout":
            return "tool_timeout", {"wait_ms": _node(node, 30_000)} | _taken(fields, wait_ms="delay_ms")
    return "tool_malicious", _taken(fields, payload="payload")


# ---------------------------------------------------------------- models and conversations


def _llm(node: Node, problems: Problems) -> Fields | None:
    fields = _known(node, _LLM, "a model fault", problems)
    mode = _word(node, fields, "mode", _LLM_MODES, problems)
    if mode is None:
        return None
    match mode:
        case "timeout":
            fault, settings = "hang", {"for_ms": _node(node, 300_000)} | _taken(fields, for_ms="delay_ms")
        case "truncated_response":
            fault = "truncate_response"
            settings = {"max_tokens": _node(node, 10)} | _taken(fields, max_tokens="max_tokens")
        case "response_drift":
            fault = "drift"
            settings = {"type": _node(node, "json_field_rename")}
            settings |= _taken(fields, type="drift_type", severity="severity")
            if settings["type"].value == "verbosity_shift":
                settings |= _taken(fields, direction="direction", factor="factor")
        case "empty":
            fault, settings = "empty_response", {}
        case _:
            fault, settings = mode, {}
    return _entry(node, fields, fault, settings, {"kind": _node(node, "llm")})


def _attack(node: Node, problems: Problems, warn: Warn) -> Fields | None:
    fields = _known(node, _ATTACK, "a context attack", problems)
    kind = _word(node, fields, "type", _ATTACKS, problems)
    enabled = fields.get("enabled")
    if enabled is not None and not isinstance(enabled.value, bool):
        problems.add(
            enabled, "bad_value", f"found {shown(enabled.value)} for `enabled`, expected `true` or `false`"
        )
    if kind is None or (enabled is not None and enabled.value is False):
        return None
    if "inject_at" in fields:
        warn(fields["inject_at"], "`inject_at` is not used; Flakestorm never used it either")
    names = {
        "overflow": {"inject_tokens": "inject_tokens"},
        "conflicting_context": {"payload": "payload"},
        "injection_via_context": {"payload": "payload"},
        "indirect_injection": {"payloads": "payloads"},
        "memory_poisoning": {"payload": "payload", "strategy": "strategy"},
    }[kind]
    settings = _taken(fields, **names)
    for key, value in fields.items():
        if key not in ("type", "enabled", "trigger_probability", "inject_at", *names.values()):
            warn(value, f"`{key}` is ignored by `{kind}`")
    if kind == "memory_poisoning" and "strategy" not in fields:
        settings["strategy"] = _node(node, "append")
    on = {} if kind == "indirect_injection" else {"kind": _node(node, "llm")}
    return _entry(node, fields, kind, settings, on, share="trigger_probability")
