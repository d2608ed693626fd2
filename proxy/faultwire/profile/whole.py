"""What only the whole profile tells of its entries: which agents there are, and whether anything can fire."""

from __future__ import annotations

from typing import TYPE_CHECKING

from faultwire.errors import did_you_mean, printable
from faultwire.profile import entry as entries
from faultwire.profile.model import AgentSite
from faultwire.profile.never_triggered import NO_CHANCE, no_chance
from faultwire.profile.shadowed import shadowed
from faultwire.profile.words import each
from faultwire.profile.yaml import shown

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from faultwire.profile.entry_model import Entry, On
    from faultwire.profile.problems import Problems
    from faultwire.profile.yaml import Node

_PATTERN = frozenset("*?.:")
"""What makes a name a glob or a host."""


def agents(node: Node | None, problems: Problems) -> dict[str, AgentSite]:
    """The agents that the profile names; each has its address, or says how its requests are recognised."""
    found: dict[str, AgentSite] = {}
    for name, site in ((problems.mapping(node, "`agents`") if node else None) or {}).items():
        built = problems.build(AgentSite, site, f"agents.{printable(name)}")
        if built is not None and built.url in (None, ()) and not (built.caller or built.instructions):
            message = f"found no `url`, `caller` or `instructions` for agent {shown(name)}, expected one"
            problems.add(site, "bad_value", message)
        elif built is not None:
            found[name] = built
    return found


def check(
    built: Iterable[tuple[Node, Entry]],
    known: Mapping[str, AgentSite],
    problems: Problems,
    *,
    translated: Sequence[Node] = (),
) -> None:
    """Note agents that `agents` does not name, entries without any chance, and entries that an earlier one
    leaves nothing to act on. Entries `translated` from Flakestorm's shape may be without a chance, as long as
    one of the profile has one."""
    pairs = list(built)
    if known:
        for node, one in pairs:
            for key, message, hint in _misnamed(one.on, list(known)):
                place = entries.place(node, f"on.{key}", one.fault.name)
                problems.add(place, "unknown_agent", message, hint)
    _hopeless(pairs, translated, problems)
    at = {id(one): node for node, one in pairs}
    for later, earlier in shadowed([one for _, one in pairs]):
        where = f" on line {earlier.line}" if earlier.line else ""
        message = (
            f"found `{later.fault.name}` behind `{earlier.fault.name}`{where}, which leaves it no exchange"
        )
        hint = "remove one of them, or give the first a trigger or an `on` of its own"
        place = entries.place(at[id(later)], later.fault.name, later.fault.name)
        problems.add(place, "never_fires", message, hint)


def _hopeless(pairs: Sequence[tuple[Node, Entry]], translated: Sequence[Node], problems: Problems) -> None:
    """Note entries with a chance of 0."""
    theirs = {id(node) for node in translated}
    found = [(node, one, key) for node, one in pairs if (key := no_chance(one.trigger)) is not None]
    places = [entries.place(node, f"trigger.{key}", one.fault.name) for node, one, key in found]
    for place, (node, _, key) in zip(places, found, strict=True):
        if id(node) not in theirs:
            problems.add(place, "never_fires", NO_CHANCE.format(key), "leave the entry out")
    if found and len(found) == len(pairs) and all(id(node) in theirs for node, _ in pairs):
        message = "found no entry that can ever fire, expected at least one"
        problems.add(places[0], "never_fires", message, "`faults: []` has no faults")


def _misnamed(on: On, known: Sequence[str]) -> Iterator[tuple[str, str, str]]:
    named = [("agent", name) for name in each(on.agent)]
    named += [("edge", called) for _, called in on.edges]
    for key, name in named:
        if name and name not in known and not _PATTERN & set(name):
            message = f"found agent {shown(name)} in `{key}`, expected one of `agents`"
            yield key, message, did_you_mean(name, known)
