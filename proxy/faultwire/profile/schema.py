"""The JSON Schema of a profile, for editors: which faults there are, what they take, on what and when.

It says no less than `load` accepts, and a little more: that an entry contradicts itself is found by
`load` alone.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from faultwire.faults._describe import describe
from faultwire.faults._registry import registry
from faultwire.profile.entry_model import On, Trigger
from faultwire.profile.flakestorm import PARTS
from faultwire.profile.model import AgentSite, ToolSite

if TYPE_CHECKING:
    from pydantic import BaseModel

    from faultwire.faults._api import Fault

ID = {"type": "string", "pattern": "^[A-Za-z0-9._-]{1,64}$"}
"""A name of a profile."""
NUMBERED_ID = {"type": "string", "pattern": "^[A-Za-z0-9._-]{1,64}(#[1-9][0-9]{0,3})?$"}
"""A name of an entry."""


def schema() -> dict[str, Any]:
    """JSON Schema 2020-12 of a profile."""
    defs: dict[str, Any] = {}
    entries = [_entry(fault, defs) for fault in registry().values()]
    on, trigger, site, agent = (_inlined(model, defs) for model in (On, Trigger, ToolSite, AgentSite))
    defs.update({"on": on, "trigger": trigger})
    bare = [name for name, fault in registry().items() if not _required(fault)]
    chaos = {"type": ["array", "object", "null"]}
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "faultwire profile",
        "type": "object",
        "additionalProperties": False,
        "oneOf": [{"required": ["faults"]}, {"required": ["chaos"]}],
        "properties": {
            "name": ID,
            "description": {"type": "string", "minLength": 1},
            "tools": {"type": "object", "additionalProperties": site},
            "agents": {"type": "object", "additionalProperties": agent},
            "faults": {"type": "array", "items": {"anyOf": [{"enum": bare}, *entries]}},
            "chaos": {
                "description": "Flakestorm's shape.",
                "type": ["object", "null"],
                "additionalProperties": False,
                "properties": dict.fromkeys(PARTS, chaos),
            },
        },
        "$defs": defs,
    }


def _entry(fault: type[Fault], defs: dict[str, Any]) -> dict[str, Any]:
    settings = _inlined(fault, defs)
    settings["description"] = describe(fault).summary
    if not _required(fault):
        settings["type"] = ["object", "null"]
    return {
        "title": fault.name,
        "type": "object",
        "required": [fault.name],
        "additionalProperties": False,
        "properties": {
            fault.name: settings,
            "id": NUMBERED_ID,
            "on": {"$ref": "#/$defs/on"},
            "trigger": {"$ref": "#/$defs/trigger"},
        },
    }


def _required(fault: type[Fault]) -> bool:
    """Must this fault be given a setting?"""
    return any(field.is_required() for field in fault.model_fields.values())


def _inlined(model: type[BaseModel], defs: dict[str, Any]) -> dict[str, Any]:
    """A model's schema, what it refers to moved to the definitions that all share."""
    made = model.model_json_schema()
    defs.update(made.pop("$defs", {}))
    made.pop("title", None)
    return made
