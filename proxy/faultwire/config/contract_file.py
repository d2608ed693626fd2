"""A contract in a file of its own, or in another configuration: its name and its invariants."""

from __future__ import annotations

from typing import TYPE_CHECKING

from faultwire.config.invariants import invariants
from faultwire.config.opened import opened, taken
from faultwire.config.reading import text

if TYPE_CHECKING:
    from pathlib import Path

    from faultwire.checks._api import Check

KEYS = ("name", "description", "invariants", "chaos_matrix", "version")
"""What a contract's own file may hold. Its scenarios are not used where a session brings its own."""


def load_contract(path: Path) -> tuple[str, tuple[Check, ...]]:
    """Name and invariants of a contract: the file holds it by itself, or under `contract`.

    Raises ConfigError, whose `also` holds the file's other problems.
    """
    root, reading = opened(taken(path, "a contract"), path)
    fields = reading.mapping(root, "a contract") or {}
    inner = fields.get("contract")
    if inner is not None:
        fields = reading.mapping(inner, "`contract`") or {}
    else:
        for key, node in fields.items():
            if key not in KEYS:
                reading.unknown(node, key, "a contract", list(KEYS))
    made = invariants(fields.get("invariants"), "invariants", reading)
    if not made and not len(reading):
        reading.add(inner or root, "empty", "found no invariant in the contract, expected at least one")
    name = text(fields.get("name"), "name", reading, default=path.stem)
    reading.settle()
    return name, made
