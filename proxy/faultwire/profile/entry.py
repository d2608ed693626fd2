"""One entry of a profile: a fault with its settings, what it is on, and its trigger."""

from __future__ import annotations

import re  # noqa: TID251 - the patterns below are fixed
from typing import TYPE_CHECKING

from faultwire.errors import did_you_mean
from faultwire.faults._registry import registry
from faultwire.profile.entry_model import Entry, On, Trigger
from faultwire.profile.never import never_fires
from faultwire.profile.yaml import Node, shown

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from faultwire.profile.problems import Problems

KEYS = ("id", "on", "trigger")
"""What an entry may hold beside its fault."""

ID = re.compile(r"[A-Za-z0-9._-]{1,64}")
NUMBERED_ID = re.compile(r"[A-Za-z0-9._-]{1,64}(#[1-9][0-9]{0,3})?")
"""An entry's: the second `latency` of a profile is `latency#2`, and stays so where it stands alone."""


def build(node: Node, problems: Problems) -> Entry | None:
    """The entry in a node, or None where something is wrong with it, which is noted."""
    before = len(problems)
    fields = _fields(node, problems)
    if fields is None:
        return None
    name = _fault_name(fields, node, problems)
    on = problems.build(On, fields["on"], "on") if "on" in fields else On()
    trigger = problems.build(Trigger, fields["trigger"], "trigger") if "trigger" in fields else Trigger()
    given = _given_id(fields, name, problems)
    if name is None:
        return None
    place = fields[name]
    fault = problems.build(registry()[name], place, name)
    if fault is None or on is None or trigger is None:
        return None
    for key, message, hint in never_fires(fault, on, trigger):
        problems.add(_place(fields, key, place), "never_fires", message, hint)
    if len(problems) > before:
        return None
    line = place.key[0] if place.key else place.line
    return Entry(id=given or name, fault=fault, on=on, trigger=trigger, line=line)


def numbered(entries: Iterable[Entry]) -> Iterator[Entry]:
    """Entries with ids that are each used once: the second `latency` is `latency#2`.

    Ids that were given stay as they are, unless one came before (in another profile).
    """
    used: set[str] = set()
    kinds: dict[str, int] = {}
    for entry in entries:
        kind = entry.fault.name
        kinds[kind] = kinds.get(kind, 0) + 1
        base, count = entry.id.partition("#")[0], kinds[kind] if entry.id == kind else 1
        unique = entry.id if count == 1 else f"{base}#{count}"
        while unique in used:
            count += 1
            unique = f"{base}#{count}"
        used.add(unique)
        yield entry if entry.id == unique else entry.model_copy(update={"id": unique})


def _fields(node: Node, problems: Problems) -> dict[str, Node] | None:
    if isinstance(node.value, str):  # a fault without settings
        return {node.value: Node(None, node.line, node.column, (node.line, node.column))}
    if isinstance(node.value, dict) and node.value:
        return node.value
    problems.add(node, "bad_value", f"found {shown(node.value)} for an entry, expected a fault")
    return None


def _fault_name(fields: dict[str, Node], node: Node, problems: Problems) -> str | None:
    """The one fault among an entry's keys; every other key that is none of ours is noted."""
    known = registry()
    others = [key for key in fields if key not in KEYS]
    faults = [key for key in others if key in known]
    if not others:
        message = "found an entry without a fault, expected one"
        problems.add(node, "bad_value", message, did_you_mean("", known))
        return None
    if not faults:
        place = fields[others[0]].key or (node.line, node.column)
        message = f"found fault {shown(others[0])}, expected a known one"
        problems.add(place, "unknown_fault", message, did_you_mean(others[0], known))
        others = others[1:]
    for key in faults[1:]:
        place = fields[key].key or (node.line, node.column)
        message = f"found fault `{key}` beside `{faults[0]}`, expected one in each entry"
        problems.add(place, "bad_value", message, "start each entry with `-`")
    for key in others:
        if key not in known:
            problems.unknown(fields[key], key, "an entry", list(KEYS))
    return faults[0] if faults else None


def _given_id(fields: dict[str, Node], fault: str | None, problems: Problems) -> str | None:
    node = fields.get("id")
    if node is None:
        return None
    if isinstance(node.value, str) and NUMBERED_ID.fullmatch(node.value):
        if node.value != fault and node.value in registry():
            message = f"found {shown(node.value)} for `id`, which is another fault's name"
            problems.add(node, "bad_value", message)
        return node.value
    expected = "1 to 64 letters, digits, `.`, `_` or `-`"
    problems.add(node, "bad_value", f"found {shown(node.value)} for `id`, expected {expected}")
    return None


def place(node: Node, key: str, fault: str) -> tuple[int, int]:
    """Where `on.agent` or another key of an entry stands."""
    fields = node.value if isinstance(node.value, dict) else {}
    return _place(fields, key, fields.get(fault, node))


def _place(fields: dict[str, Node], key: str, fault: Node) -> tuple[int, int]:
    holder, _, inner = key.partition(".")
    if holder not in fields:
        return fault.key or (fault.line, fault.column)
    node = fields[holder].at((inner,))
    return node.key or (node.line, node.column)
