"""Which entries of a profile can match an exchange at all: found once for exchanges that look alike.

Exchanges repeat without end what most entries look at (host, path, kind, tool, …), so what follows from
that is remembered by it. A profile of fifty faults then costs an exchange only those that may match.
"""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, TypeVar

from faultwire.faults._api import RequestFault, ResultFault
from faultwire.profile.match import ON_THE_HEAD, TEXTS, like, may_match

if TYPE_CHECKING:
    from collections.abc import Hashable, Sequence

    from faultwire.events import Exchange
    from faultwire.profile.entry_model import CompiledEntry, Entry

KEPT = 512
"""Kinds of exchange that are remembered."""
_PER_CALL = frozenset({"url"})
"""Texts that differ with every call: entries that look at them are asked each time."""
T = TypeVar("T")


class Candidates:
    """The entries of one profile, in the order in which they are composed."""

    def __init__(self, entries: Sequence[Entry]) -> None:
        self._entries = tuple(entries)
        self.replace_results = any(isinstance(entry.fault, ResultFault) for entry in self._entries)
        """Is any of them about a tool's result?"""
        self.rewrite_texts = any(isinstance(entry.fault, RequestFault) for entry in self._entries)
        """Does any of them change what the model reads?"""
        self.name_agents = any(e.on.agent is not None or e.on.edge is not None for e in self._entries)
        """Does any of them name an agent?"""
        used = {name for entry in self._entries for name, _ in entry.on.globs}
        self._names = tuple(sorted(used - _PER_CALL))
        self._on_head = tuple(name for name in self._names if name in ON_THE_HEAD)
        self._by_url = bool(used & _PER_CALL)
        self._found: OrderedDict[Hashable, tuple[CompiledEntry, ...]] = OrderedDict()
        self._heads: OrderedDict[Hashable, bool] = OrderedDict()

    @cached_property
    def read_views(self) -> bool:
        """May any of them look at what a request says?"""
        return any(entry.compiled.reads_view for entry in self._entries)

    def of(self, exchange: Exchange, *, tool: str | None = None) -> tuple[CompiledEntry, ...]:
        """Every entry that `mismatch` may find nothing against; `tool` is the name of a result's tool."""
        if tool is not None:
            exchange = replace(exchange, tool=tool)
        values: list[str | None] = []
        for name in self._names:
            values.append(TEXTS[name](exchange))
        key = (exchange.kind, exchange.protocol, *values)
        found = self._found.get(key)
        return _kept(self._found, key, self._fitting(exchange)) if found is None else found

    def on_head(self, exchange: Exchange) -> bool:
        """May any entry match once the body is known? `may_match` of each."""
        if self._by_url:
            return self._any(exchange)
        values: list[str | None] = []
        for name in self._on_head:
            values.append(TEXTS[name](exchange))
        key = (exchange.kind, exchange.protocol, *values)
        found = self._heads.get(key)
        return _kept(self._heads, key, self._any(exchange)) if found is None else found

    def _any(self, exchange: Exchange) -> bool:
        return any(may_match(e.on, exchange, protocols=e.fault.protocols) for e in self._entries)

    def _fitting(self, exchange: Exchange) -> tuple[CompiledEntry, ...]:
        return tuple(entry.compiled for entry in self._entries if _fits(entry, exchange))


def _fits(entry: Entry, exchange: Exchange) -> bool:
    on = entry.on
    if on.kinds is None:
        named = on.named or exchange.protocol in entry.fault.protocols
        if exchange.kind == "other" and not named:
            return False
    elif exchange.kind not in on.kinds:
        return False
    return all(like(globs, TEXTS[name](exchange)) for name, globs in on.globs if name not in _PER_CALL)


def _kept(memory: OrderedDict[Hashable, T], key: Hashable, value: T) -> T:
    memory[key] = value
    if len(memory) > KEPT:
        memory.popitem(last=False)
    return value
