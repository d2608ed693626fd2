"""A profile: its entries, and the tools and agents that it names. Frozen; made by `load`."""

from __future__ import annotations

from functools import cached_property

from faultwire.faults._api import SITES
from faultwire.profile.candidates import Candidates
from faultwire.profile.entry_model import Entry, Frozen, Globs


class ToolSite(Frozen):
    """Where a tool is found on the wire."""

    url: Globs | None = None


class AgentSite(Frozen):
    """Where an agent is reached, and how its own requests are recognised where several share a session:
    by header fields, each with a glob, and by the system prompt of those to a model."""

    url: Globs | None = None
    caller: dict[str, str] | None = None
    instructions: Globs | None = None


class Profile(Frozen):
    """A named set of faults. `digest` is the SHA-256 of the file's bytes, empty for inline ones."""

    name: str
    description: str = ""
    tools: dict[str, ToolSite] = {}  # noqa: RUF012 - pydantic copies it
    agents: dict[str, AgentSite] = {}  # noqa: RUF012
    entries: tuple[Entry, ...] = ()
    path: str = "<inline>"
    digest: str = ""
    warnings: tuple[str, ...] = ()
    """What was understood otherwise than it may have been meant, each with its place."""

    @cached_property
    def callers(self) -> tuple[tuple[str, tuple[tuple[str, str], ...]], ...]:
        """The agents that are known by header fields alone, with these."""
        known = ((name, site) for name, site in self.agents.items() if not site.instructions)
        return tuple((name, tuple(site.caller.items())) for name, site in known if site.caller)

    @cached_property
    def instructed(self) -> dict[str, AgentSite]:
        """The agents that are known by the system prompt of their requests to a model."""
        return {name: site for name, site in self.agents.items() if site.instructions}

    @cached_property
    def candidates(self) -> Candidates:
        """Finds those of `composed` that an exchange may match."""
        return Candidates(self.composed)

    @cached_property
    def composed(self) -> tuple[Entry, ...]:
        """Entries by site (connection first), within a site in file order."""
        return tuple(sorted(self.entries, key=lambda entry: SITES.index(entry.fault.site)))
