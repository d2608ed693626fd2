"""The JSON Schema of `faultwire.yaml`, for editors: what each key is, and which checks there are."""

from __future__ import annotations

from typing import Any

_TEXT: dict[str, Any] = {"type": "string", "minLength": 1}
_FLAT: dict[str, Any] = {"type": "object", "additionalProperties": False}


def schema() -> dict[str, Any]:
    """JSON Schema 2020-12 of the keys that `faultwire init` writes."""
    invariants = {"type": "array", "items": {"oneOf": _checks()}, "minItems": 1}
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "faultwire.yaml",
        **_FLAT,
        "required": ["version", "agent", "golden_prompts"],
        "properties": {
            "version": {"const": "2.0"},
            "agent": {
                **_FLAT,
                "required": ["type", "command"],
                "properties": {
                    "type": {"const": "command"},
                    "command": {
                        "description": "The program and its arguments; `{prompt}` is replaced by the prompt.",
                        "type": "array",
                        "items": {"type": "string"},
                        "minItems": 1,
                    },
                    "timeout": {
                        "description": "Milliseconds after which the agent is stopped.",
                        "type": "integer",
                        "minimum": 1,
                    },
                },
            },
            "proxy": {
                **_FLAT,
                "properties": {
                    "capture": {"enum": ["env"]},
                    "allow_hosts": {
                        "description": "Hosts with private addresses that the agent may call.",
                        "type": "array",
                        "items": _TEXT,
                    },
                    "seed": {"type": "integer"},
                },
            },
            "golden_prompts": {"type": "array", "items": _TEXT, "minItems": 1},
            "contract": {
                **_FLAT,
                "required": ["name", "invariants", "chaos_matrix"],
                "properties": {
                    "name": _TEXT,
                    "invariants": invariants,
                    "chaos_matrix": {"type": "array", "items": _scenario(), "minItems": 1},
                },
            },
        },
    }


def _scenario() -> dict[str, Any]:
    from faultwire.profile.find import available

    names = [found.name for found in available()]
    profile = {"description": f"A name (here: {', '.join(names)}) or a path.", **_TEXT}
    return {**_FLAT, "required": ["name"], "properties": {"name": _TEXT, "profile": profile}}


def _checks() -> list[dict[str, Any]]:
    from faultwire.checks._registry import registry

    found = []
    for name, check in registry().items():
        described = check.model_json_schema()
        described["title"] = name
        described["description"] = (check.__doc__ or "").strip().splitlines()[0]
        described["properties"] = {"type": {"const": name}, **described.get("properties", {})}
        described["required"] = ["type", *described.get("required", [])]
        found.append(described)
    return found
