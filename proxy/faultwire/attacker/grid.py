"""What can be tried: a family of the library, what carries it, where it stands there, and how it is worded.

Pure. A cell is one of each. Which carriers there are depends on the agent's traffic: one that calls no tool
reads no tool's result.
"""

from __future__ import annotations

import json
from functools import cached_property
from itertools import combinations
from typing import TYPE_CHECKING, Any, NamedTuple

from faultwire.attacker.rewording import WORDINGS
from faultwire.errors import UsageError, did_you_mean

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence, Set

ENTRY = "attack"
"""The id of the fault that carries an attack, in every session's ledger."""


class Cell(NamedTuple):
    """One point of the grid; each field is one of its dimensions."""

    family: str
    carrier: str
    position: str
    wording: str

    @property
    def text(self) -> str:
        """The words for it."""
        return " · ".join(self)


class Carrier(NamedTuple):
    """One way to the model: a fault with the settings that make it so. `needs` is the traffic without which
    it never acts."""

    fault: str
    settings: Mapping[str, str]
    positions: tuple[str, ...]
    place: str
    """The setting that says where; empty where there is one place only."""
    needs: str


_RESULT = ("end", "start", "middle", "field")
_DISGUISES = ("comment", "metadata", "instruction", "system_note")
CARRIERS: dict[str, Carrier] = {
    "result": Carrier("indirect_injection", {}, _RESULT, "position", "results"),
    **{
        f"result:{one}": Carrier("indirect_injection", {"disguise": one}, _RESULT, "position", "results")
        for one in _DISGUISES
    },
    "description": Carrier(
        "mcp_poisoned_description", {}, ("end", "start", "replace"), "position", "descriptions"
    ),
    "document": Carrier("injection_via_context", {}, ("before",), "", "models"),
    "memory": Carrier("memory_poisoning", {}, ("prepend", "append"), "strategy", "models"),
    "contradiction": Carrier("conflicting_context", {}, ("after",), "", "models"),
}
"""By the name in reports; the first one, at its first position, is what a static attack uses."""
Subset = tuple[int, ...]
"""Some dimensions of a cell, by their number."""
SUBSETS: tuple[Subset, ...] = tuple(subset for size in range(1, 5) for subset in combinations(range(4), size))
THREES = tuple(at for at, subset in enumerate(SUBSETS) if len(subset) == 3)
Projection = tuple[Subset, tuple[str, ...]]
"""Some dimensions with a value each."""


class Grid:
    """The cells of one search, in order."""

    def __init__(self, cells: Sequence[Cell]) -> None:
        if not cells:
            raise ValueError("a grid needs a cell")
        self.cells = tuple(dict.fromkeys(cells))

    @property
    def projections(self) -> dict[Cell, tuple[int, ...]]:
        """For each cell its projections to every subset of dimensions, by their number."""
        return self._numbering[0]

    @property
    def numbered(self) -> tuple[Projection, ...]:
        """The projections by their number."""
        return self._numbering[1]

    @cached_property
    def _numbering(self) -> tuple[dict[Cell, tuple[int, ...]], tuple[Projection, ...]]:
        numbers: dict[Projection, int] = {}
        found = {}
        for cell in self.cells:
            keys = [(subset, tuple([cell[at] for at in subset])) for subset in SUBSETS]
            found[cell] = tuple([numbers.setdefault(key, len(numbers)) for key in keys])
        return found, tuple(numbers)

    @cached_property
    def beside(self) -> dict[int, tuple[Cell, ...]]:
        """The cells that share three dimensions, by the number of that projection."""
        found: dict[int, list[Cell]] = {}
        for cell, numbers in self.projections.items():
            for at in THREES:
                found.setdefault(numbers[at], []).append(cell)
        return {number: tuple(cells) for number, cells in found.items()}

    def neighbours(self, cell: Cell) -> list[Cell]:
        """The cells that differ in one dimension."""
        numbers = self.projections.get(cell, ())
        found = dict.fromkeys(near for at in THREES if numbers for near in self.beside[numbers[at]])
        found.pop(cell, None)
        return list(found)


def grid(
    families: Sequence[str],
    seen: frozenset[str],
    wordings: Sequence[str] = tuple(WORDINGS),
    without: Set[tuple[str, str]] = frozenset(),
) -> Grid:
    """All cells of these families that such traffic can carry (`results`, `descriptions`, `models`), but for
    families `without` a wording.

    Raises UsageError where nothing can be carried.
    """
    cells = [
        Cell(family, name, position, wording)
        for family in families
        for name, carrier in CARRIERS.items()
        if carrier.needs in seen
        for position in carrier.positions
        for wording in wordings
        if (family, wording) not in without
    ]
    if not cells:
        raise UsageError(
            "found neither a call to a model nor a tool's result in the run without attacks, expected one "
            "that can carry an attack",
            code="attack.nothing_to_carry",
            hint="`faultwire doctor -- CMD` shows whether its traffic comes through the proxy",
        )
    return Grid(cells)


def chosen(given: Sequence[str], known: Sequence[str], what: str) -> tuple[str, ...]:
    """The names that were asked for, all where none were. Raises UsageError for one that is unknown."""
    for name in given:
        if name not in known:
            raise UsageError(
                f"found {what} `{name}`, expected one of {', '.join(known)}",
                code=f"attack.{what}",
                hint=did_you_mean(name, known),
            )
    return tuple(dict.fromkeys(given)) or tuple(known)


def entry(cell: Cell, text: str) -> dict[str, Any]:
    """The fault that puts a text where the cell says, as a profile has it."""
    carrier = CARRIERS[cell.carrier]
    settings: dict[str, Any] = dict(carrier.settings)
    settings |= {"payloads": [text]} if carrier.fault == "indirect_injection" else {"payload": text}
    if carrier.place:
        settings[carrier.place] = cell.position
    settings["canary"] = True
    on = {"results": {"tool": "*"}, "models": {"kind": "llm"}}.get(carrier.needs)
    return {carrier.fault: settings, **({"on": on} if on else {})}


def as_yaml(fault: Mapping[str, Any]) -> str:
    """A fault in one line, as `--fault` takes it: JSON, where what cannot be printed is escaped as YAML reads
    it."""
    text = json.dumps(fault, ensure_ascii=False)
    return "".join(one if one.isprintable() else f"\\U{ord(one):08x}" for one in text)
