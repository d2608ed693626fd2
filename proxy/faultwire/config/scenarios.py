"""Scenarios of a contract, and the global `chaos`: profiles by name, by path, and faults in either shape."""

from __future__ import annotations

from typing import TYPE_CHECKING

from faultwire.config.reading import listed, text, texts
from faultwire.contract.cells import Scenario, slug
from faultwire.errors import ProfileError
from faultwire.profile import entry, flakestorm, whole
from faultwire.profile.find import SUFFIXES, find
from faultwire.profile.load import load, merge
from faultwire.profile.model import Profile
from faultwire.profile.yaml import Node, shown

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from faultwire.config.reading import Reading
    from faultwire.profile.entry_model import Entry
    from faultwire.profile.model import ToolSite

FAULTS = ("profile", "faults", *flakestorm.PARTS)
"""Where the faults of a scenario come from; several add up."""
LONGEST = 64


def chaos(node: Node | None, tools: Mapping[str, ToolSite], reading: Reading) -> Profile | None:
    """The global chaos as a profile; None where it breaks nothing."""
    if node is None or node.value is None:
        return None
    fields = reading.mapping(node, "`chaos`")
    reading.strays(fields or {}, FAULTS, "`chaos`")
    before = len(reading)
    made = _profile(node, fields or {}, "chaos", tools, reading)
    if not made.entries and len(reading) == before:
        reading.warn(node, "`chaos` has no faults")
        return None
    return made


def scenarios(node: Node | None, tools: Mapping[str, ToolSite], reading: Reading) -> tuple[Scenario, ...]:
    """The scenarios of a `chaos_matrix`; problems are noted."""
    found: list[Scenario] = []
    seen: dict[str, tuple[str, int]] = {}
    for item in listed(node, "chaos_matrix", reading):
        fields = reading.mapping(item, "a scenario")
        if fields is None:
            continue
        reading.strays(fields, ("name", "description", *FAULTS), "a scenario")
        name = text(fields.get("name"), "name", reading)
        if not name:
            if fields.get("name") is None or fields["name"].value is None:
                reading.add(item, "bad_value", "found a scenario without a `name`, expected one")
            continue
        _distinct(name, fields["name"], seen, reading)
        found.append(Scenario(name, _profile(item, fields, name, tools, reading)))
    return tuple(found)


def _distinct(name: str, node: Node, seen: dict[str, tuple[str, int]], reading: Reading) -> None:
    if len(name) > LONGEST or not name.isprintable():
        message = f"found {shown(name)} for `name`, expected at most {LONGEST} characters that can be printed"
        reading.add(node, "bad_value", message)
    short = slug(name)
    if short in seen:
        first, line = seen[short]
        same = "the scenario" if first == name else f"the scenario {shown(first)}, which is as good as"
        message = f"found {same} {shown(name)} again, expected it once (first on line {line})"
        reading.add(node, "duplicate_id", message)
    seen.setdefault(short, (name, node.line))


def _profile(
    node: Node, fields: Mapping[str, Node], name: str, tools: Mapping[str, ToolSite], reading: Reading
) -> Profile:
    """Everything that a mapping of `FAULTS` asks for as one profile."""
    parts = [found for found in _named(fields.get("profile"), reading) if found is not None]
    inline = _inline(node, fields, reading)
    if inline:
        entries = tuple(entry.numbered(inline))
        parts.append(Profile(name=name, entries=entries, path=str(reading.where), digest=""))
    sites = {tool: site for tool, site in tools.items() if site.url not in (None, ())}
    if not parts:
        return Profile(name=name, tools=sites)
    kept = parts[0].name if len(parts) == 1 else name
    if sites and any(part.entries for part in parts):
        parts.append(Profile(name="tools", tools=sites))
    elif len(parts) == 1 and not inline:
        return parts[0]
    parts = [*parts, Profile(name="none")] if len(parts) == 1 else parts  # so that the content is hashed
    return merge(parts).model_copy(update={"name": kept, "path": parts[0].path})


def _named(node: Node | None, reading: Reading) -> list[Profile | None]:
    if node is None or node.value is None:
        return []
    places = node.value if isinstance(node.value, list) else [node]
    return [_loaded(name, place, reading) for place in places for name in texts(place, "profile", reading)]


def _loaded(name: str, node: Node, reading: Reading) -> Profile | None:
    """A profile by its name or path; a path starts from the folder of the configuration."""
    if "\0" in name:
        reading.add(node, "not_found", f"found {shown(name)} for `profile`, expected a name or a path")
        return None
    try:
        found = load(_path(name, reading.folder))
    except ProfileError as error:
        reading.within(node, f"the profile {shown(name)}", error)
        return None
    for warning in found.warnings:
        reading.warn(node, f"in the profile {shown(name)}: {warning}")
    return found


def _path(name: str, folder: Path) -> Path:
    if "/" not in name and not name.endswith(SUFFIXES):
        return find(name, folder)
    return folder / name


def _inline(node: Node, fields: Mapping[str, Node], reading: Reading) -> list[Entry]:
    """The entries that stand in the configuration itself."""
    given = {key: fields[key] for key in flakestorm.PARTS if key in fields}
    shape = Node(given, node.line, node.column, node.key)
    reading.lenient = True
    translated = list(flakestorm.entries(shape, reading, reading.warn))
    reading.lenient = False
    own = listed(fields.get("faults"), "faults", reading)
    built = [(item, made) for item in (*translated, *own) if (made := entry.build(item, reading)) is not None]
    whole.check(built, {}, reading, translated=translated)
    given_ids: dict[str, int] = {}
    for item, made in built:
        if made.id != made.fault.name and made.id in given_ids:
            message = f"found id `{made.id}` again, expected it once (first on line {given_ids[made.id]})"
            reading.add(item, "duplicate_id", message)
        given_ids.setdefault(made.id, item.line)
    return [made for _, made in built]
