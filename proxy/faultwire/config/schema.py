"""The JSON Schema of a `faultwire.yaml`, for editors: every section, every check, every fault.

Editors have no warnings, so what `load` only warns of (a key that means nothing) is marked, too. All else
that `load` accepts is valid here, variables in place of numbers included.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from faultwire.agents.settings import Reset
from faultwire.checks._registry import registry
from faultwire.config.agent import TYPES
from faultwire.config.invariants import COMMON, FLAKESTORM, KEYS
from faultwire.config.load import NAME
from faultwire.config.model import (
    AdvancedSettings,
    ModelSettings,
    MutationSettings,
    OutputSettings,
    ProxySettings,
    ScoringSettings,
    Source,
)
from faultwire.config.prompts import ID
from faultwire.config.replays import SESSION
from faultwire.mutations._registry import registry as mutations
from faultwire.profile import schema as profiles
from faultwire.profile.find import available
from faultwire.profile.model import ToolSite

if TYPE_CHECKING:
    from pydantic import BaseModel

    from faultwire.checks._api import Check

Schema = dict[str, Any]

_TEXT: Schema = {"type": "string", "minLength": 1}
_WORDS: Schema = {"anyOf": [_TEXT, {"type": "array", "items": {"type": "string"}, "minItems": 1}]}
_PLAIN = ("integer", "number", "boolean")


def schema() -> Schema:
    """JSON Schema 2020-12 of a configuration."""
    profile = profiles.schema()
    defs: Schema = dict(profile["$defs"])
    faults = {"faults": profile["properties"]["faults"], **profile["properties"]["chaos"]["properties"]}
    defs["faults"] = faults.pop("faults")
    faults = {"faults": _ref("faults"), **faults, "profile": _profile()}
    defs["invariant"] = {"anyOf": _invariants(defs)}
    invariants = {"type": "array", "items": _ref("invariant")}
    scenario = _flat({"name": _TEXT, "description": {"type": "string"}, **faults}, "name")
    defs["matrix"] = {"type": "array", "items": scenario, "minItems": 1}
    contract = _flat(
        {
            "name": _TEXT,
            "description": {"type": "string"},
            "invariants": invariants,
            "chaos_matrix": _ref("matrix"),
        },
        "invariants",
    )
    sections = {
        "proxy": _model(ProxySettings, defs),
        "tools": {"type": "object", "additionalProperties": _orempty(_model(ToolSite, defs))},
        "invariants": invariants,
        "contract": contract,
        "chaos": _flat(faults),
        "chaos_matrix": _ref("matrix"),
        "mutations": _mutations(defs),
        "model": _model(ModelSettings, defs),
        "replays": _replays(defs),
        "scoring": _scoring(defs),
        "advanced": _model(AdvancedSettings, defs),
        "output": _model(OutputSettings, defs),
        "redact": {"type": "object"},
        "patterns": {"type": "array"},
    }
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": NAME,
        "type": "object",
        "additionalProperties": False,
        "required": ["agent", "golden_prompts"],
        "properties": {
            "version": {"enum": ["2.0", "1.0", 2.0, 1.0], "description": 'Of this format: "2.0".'},
            "agent": {"anyOf": [_agent(kind, model, defs) for kind, model in TYPES.items()]},
            "golden_prompts": {"type": "array", "minItems": 1, "items": _prompt(invariants)},
            **{name: _orempty(section) for name, section in sections.items()},
        },
        "$defs": {
            **defs,
            "variable": {
                "type": "string",
                "pattern": r"^\$\{",
                "description": "Filled in from the environment.",
            },
        },
    }


def _ref(name: str) -> Schema:
    return {"$ref": f"#/$defs/{name}"}


def _flat(properties: Schema, *required: str) -> Schema:
    return {
        "type": "object",
        "additionalProperties": False,
        "properties": properties,
        "required": list(required),
    }


def _orempty(section: Schema) -> Schema:
    """The section, or nothing after its key."""
    return {"anyOf": [section, {"type": "null"}]}


def _model(model: type[BaseModel], defs: Schema, *without: str) -> Schema:
    """A model's schema; its own definitions go to those that all share, and numbers may be variables."""
    made = model.model_json_schema()
    defs.update({name: _varied(one) for name, one in made.pop("$defs", {}).items()})
    made.pop("title", None)
    made.pop("description", None)
    made["properties"] = {
        name: _property(one) for name, one in made.get("properties", {}).items() if name not in without
    }
    return made


def _property(described: Schema) -> Schema:
    made = _varied(described)
    made.pop("title", None)
    return made


def _varied(described: Schema) -> Schema:
    """A schema in which a number, a boolean or one of some words may come from a variable."""
    out = dict(described)
    if "anyOf" in out:
        out["anyOf"] = [*(_varied(one) for one in out["anyOf"])]
        return out
    if "properties" in out:
        out["properties"] = {name: _property(one) for name, one in out["properties"].items()}
        return out
    if out.get("type") in _PLAIN or (out.get("type") == "string" and {"enum", "const"} & out.keys()):
        kept: Schema = {key: out.pop(key) for key in ("title", "description", "default") if key in out}
        return {"anyOf": [out, _ref("variable")], **kept}
    return out


def _agent(kind: str, model: type[Reset], defs: Schema) -> Schema:
    made = _model(model, defs)
    properties = made["properties"]
    properties["type"] = {"const": kind}
    for key in ("command", "reset_command"):
        if key in properties:
            properties[key] = _orempty(_WORDS)
    for key in ("env", "headers", "query_params"):
        if key in properties:
            values = {"type": ["string", "integer", "boolean"]}
            properties[key] = {"type": "object", "additionalProperties": values}
    if "method" in properties:
        properties["method"] = _TEXT
    if kind in ("python", "langchain", "openai"):
        made["required"] = ["type", *made.get("required", [])]
    return made


def _prompt(invariants: Schema) -> Schema:
    expect = {"anyOf": [invariants, invariants["items"]]}
    common = {"id": {"type": "string", "pattern": f"^{ID.pattern}$"}, "expect": expect}
    turns = {"type": "array", "items": _TEXT, "minItems": 1}
    return {
        "anyOf": [
            _TEXT,
            _flat({"prompt": _TEXT, **common}, "prompt"),
            _flat({"turns": turns, **common}, "turns"),
        ]
    }


def _profile() -> Schema:
    names = ", ".join(found.name for found in available())
    return {"description": f"A name (here: {names}) or a path; or several.", **_WORDS}


def _invariants(defs: Schema) -> list[Schema]:
    """Every check in full, and the short forms."""
    common: Schema = {}
    short: Schema = {}
    full = []
    for name, check in registry().items():
        made = _model(check, defs)
        common = {key: made["properties"][key] for key in COMMON}
        made["properties"] = {"type": {"const": name}, **made["properties"], **_theirs(check, made)}
        made["required"] = ["type", *made.get("required", [])]
        made["title"] = name
        made["description"] = (check.__doc__ or "").strip().partition("\n")[0]
        if name == "excludes_pattern":
            made["anyOf"] = [{"required": ["patterns"]}, {"required": ["pattern"]}]
            made["required"] = ["type"]
        full.append(made)
        short[name] = {"description": made["description"]}
    sometimes = {"sometimes": {"anyOf": [{"enum": list(short)}, {"type": "object"}]}}
    bare = [
        name
        for name, check in registry().items()
        if not any(field.is_required() for field in check.model_fields.values())
    ]
    forms = {**_flat({**common, **short, **sometimes}), "minProperties": 1, "title": "short"}
    return [{"enum": bare}, forms, *full]


def _theirs(check: type[Check], made: Schema) -> Schema:
    """What Flakestorm's shape lets stand in one of its checks: any of its keys, with nothing in it."""
    if check.name not in FLAKESTORM:
        return {}
    nothing = {key: {"type": "null"} for key in KEYS if key not in made["properties"]}
    own = {key: _orempty(made["properties"][key]) for key in COMMON if key in made["properties"]}
    own["probes"] = {"anyOf": [*_orempty(_WORDS)["anyOf"]]}
    if check.name == "excludes_pattern":
        nothing["pattern"] = _WORDS
    for key in ("patterns", "values"):
        if key in made["properties"]:
            own[key] = _WORDS
    return {**nothing, **own}


def _mutations(defs: Schema) -> Schema:
    made = _model(MutationSettings, defs)
    names = list(mutations())
    made["properties"]["types"] = {"type": "array", "items": {"enum": names}, "minItems": 1}
    weights = {"type": "number", "minimum": 0}
    made["properties"]["weights"] = _flat(dict.fromkeys(names, weights))
    return made


def _scoring(defs: Schema) -> Schema:
    made = _model(ScoringSettings, defs)
    nested = {key: value for key, value in made.items() if key != "required"}
    return {**made, "properties": {**made["properties"], "weights": dict(nested)}}


def _replays(defs: Schema) -> Schema:
    session = {"anyOf": [_TEXT, _flat({**dict.fromkeys(SESSION, True), "file": _TEXT})]}
    sources = _model(Source, defs)
    return _flat(
        {
            "sessions": {"type": "array", "items": session},
            "sources": {"type": "array", "items": sources},
        }
    )
