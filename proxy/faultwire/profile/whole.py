"""What only the whole profile tells of its entries: which agents there are, and whether anything can fire."""

from __future__ import annotations

from typing import TYPE_CHECKING

from faultwire.errors import did_you_mean, printable
from faultwire.profile import entry as entries
from faultwire.profile.model import AgentSite
from faultwire.profile.yaml import shown

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from faultwire.profile.entry_model import Entry, On, Trigger
    from faultwire.profile.problems import Problems
    from faultwire.profile.yaml import Node

_PATTERN = frozenset("*?.:")
"""What makes a name a glob or a host."""


def agents(node: Node | None, problems: Problems) -> dict[str, AgentSite]:
    """The agents that the profile names; each has its address, or says how its requests are recognised."""
    found: dict[str, AgentSite] = {}
    for name, site in ((problems.mapping(node, "`agents`") if node else None) or {}).items():
        built = problems.build(AgentSite, site, f"agents.{printable(name)}")
        if built is not None and built.url in (None, ()) and not built.caller:
            message = f"found neither `url` nor `caller` for agent {shown(name)}, expected one"
            problems.add(site, "bad_value", message)
        elif built is not None:
            found[name] = built
    return found


def check(built: Iterable[tuple[Node, Entry]], known: Mapping[str, AgentSite], problems: Problems) -> None:
    """Note agents that `agents` does not name, and a profile whose every entry can never fire."""
    pairs = list(built)
    if known:
        for node, one in pairs:
            for key, message, hint in _misnamed(one.on, list(known)):
                place = entries.place(node, f"on.{key}", one.fault.name)
                problems.add(place, "unknown_agent", message, hint)
    if pairs and all(_never(one.trigger) for _, one in pairs):
        node, one = pairs[0]
        key = "trigger.stages" if one.trigger.stages else "trigger.probability"
        message = "found no entry that can ever fire, expected at least one"
        hint = "`faults: []` has no faults"
        problems.add(entries.place(node, key, one.fault.name), "never_fires", message, hint)


def _misnamed(on: On, known: Sequence[str]) -> Iterator[tuple[str, str, str]]:
    named = [("agent", name) for name in entries.each(on.agent)]
    named += [("edge", called) for _, called in on.edges]
    for key, name in named:
        if name and name not in known and not _PATTERN & set(name):
            message = f"found agent {shown(name)} in `{key}`, expected one of `agents`"
            yield key, message, did_you_mean(name, known)


def _never(trigger: Trigger) -> bool:
    if trigger.stages:
        return all(stage.probability == 0 for stage in trigger.stages)
    return trigger.probability == 0
