"""A loaded profile as JSON, for the control socket and the tape; and several joined into one."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel, ConfigDict, ValidationError

from faultwire import _core
from faultwire.errors import ProfileError
from faultwire.faults._registry import registry
from faultwire.profile.entry import numbered
from faultwire.profile.entry_model import Entry, On, Trigger
from faultwire.profile.model import AgentSite, Profile, ToolSite

if TYPE_CHECKING:
    from collections.abc import Sequence


class _Fault(BaseModel):
    model_config = ConfigDict(extra="forbid")

    name: str
    settings: dict[str, Any] = {}


class _Entry(BaseModel):
    model_config = ConfigDict(extra="forbid")

    id: str
    fault: _Fault
    on: On = On()
    trigger: Trigger = Trigger()
    line: int | None = None
    mark: bool = False


class _Profile(BaseModel):
    model_config = ConfigDict(extra="forbid")

    name: str
    description: str = ""
    tools: dict[str, ToolSite] = {}
    agents: dict[str, AgentSite] = {}
    entries: tuple[_Entry, ...] = ()
    path: str = "<inline>"
    digest: str = ""


def dump(profile: Profile) -> dict[str, Any]:
    """The profile as plain JSON values; what is as by default is left out of `settings`, `on`, `trigger`."""
    return {
        "name": profile.name,
        "description": profile.description,
        "tools": {name: _short(site) for name, site in profile.tools.items()},
        "agents": {name: _short(site) for name, site in profile.agents.items()},
        "entries": [
            {
                "id": entry.id,
                "fault": {"name": entry.fault.name, "settings": _short(entry.fault)},
                "on": _short(entry.on),
                "trigger": _short(entry.trigger),
                "line": entry.line,
                **({"mark": True} if entry.mark else {}),
            }
            for entry in profile.entries
        ],
        "path": profile.path,
        "digest": profile.digest,
    }


def _short(model: BaseModel) -> dict[str, Any]:
    return model.model_dump(mode="json", exclude_defaults=True)


def from_dump(data: dict[str, Any]) -> Profile:
    """The profile that `dump` wrote. Raises ProfileError."""
    try:
        dumped = _Profile.model_validate_json(json.dumps(data), strict=True)
        return Profile(
            name=dumped.name,
            description=dumped.description,
            tools=dumped.tools,
            agents=dumped.agents,
            entries=tuple(_entry(entry) for entry in dumped.entries),
            path=dumped.path,
            digest=dumped.digest,
        )
    except (TypeError, ValueError) as error:
        what = _first(error) if isinstance(error, ValidationError) else "found values that are not JSON"
        raise ProfileError(f"{what}, expected a dumped profile", code="profile.bad_value") from None


def _first(error: ValidationError) -> str:
    found = error.errors(include_url=False, include_input=False)[0]
    return f"found a bad value at `{'.'.join(map(str, found['loc']))}` ({found['type']})"


def _entry(dumped: _Entry) -> Entry:
    kind = registry().get(dumped.fault.name)
    if kind is None:
        message = f"found fault `{dumped.fault.name}`, expected a known one"
        hint = "install the package that adds it here too"
        raise ProfileError(message, code="profile.unknown_fault", hint=hint)
    fault = kind.model_validate_json(json.dumps(dumped.fault.settings), strict=True)
    return Entry(
        id=dumped.id, fault=fault, on=dumped.on, trigger=dumped.trigger, line=dumped.line, mark=dumped.mark
    )


def marked(profile: Profile) -> Profile:
    """The profile with every fault named in the answers that it gives or changes."""
    entries = tuple(entry.model_copy(update={"mark": True}) for entry in profile.entries)
    return profile.model_copy(update={"entries": entries})


def merge(profiles: Sequence[Profile]) -> Profile:
    """Several profiles as one: their faults one after the other, ids made unique, tool sites united.

    The digest of a merged profile is that of its content.
    """
    if len(profiles) == 1:
        return profiles[0]
    tools: dict[str, ToolSite] = {}
    agents: dict[str, AgentSite] = {}
    for profile in profiles:
        agents |= profile.agents
        for name, site in profile.tools.items():
            tools[name] = _united(tools[name], site) if name in tools else site
    joined = Profile(
        name="+".join(profile.name for profile in profiles) or "none",
        description=" ".join(profile.description for profile in profiles if profile.description),
        tools=tools,
        agents=agents,
        entries=tuple(numbered(entry for profile in profiles for entry in profile.entries)),
        path=", ".join(profile.path for profile in profiles) or "<inline>",
        warnings=tuple(warning for profile in profiles for warning in profile.warnings),
    )
    if not profiles:
        return joined
    content = {key: value for key, value in dump(joined).items() if key in ("tools", "agents", "entries")}
    digest = _core.sha256_hex(_core.jcs(json.dumps(content).encode()))
    return joined.model_copy(update={"digest": digest})


def _united(one: ToolSite, other: ToolSite) -> ToolSite:
    globs = [
        glob
        for url in (one.url, other.url)
        if url is not None
        for glob in ((url,) if isinstance(url, str) else url)
    ]
    unique = tuple(dict.fromkeys(globs))
    return ToolSite(url=unique[0] if len(unique) == 1 else unique or None)
