"""The grid holds what the traffic can carry, and each cell becomes a fault that a profile accepts."""

from __future__ import annotations

import pytest
import yaml

from faultwire.attacker.grid import CARRIERS, SUBSETS, Cell, Grid, as_yaml, chosen, entry, grid
from faultwire.errors import UsageError
from faultwire.profile.load import inline

EVERYTHING = frozenset({"results", "models", "descriptions"})


def test_a_grid_has_only_what_the_traffic_can_carry():
    whole = grid(["override"], EVERYTHING)
    assert {cell.carrier for cell in whole.cells} == set(CARRIERS)
    models = grid(["override"], frozenset({"models"}))
    assert {cell.carrier for cell in models.cells} == {"document", "memory", "contradiction"}
    with pytest.raises(UsageError, match="neither a call to a model nor a tool's result"):
        grid(["override"], frozenset())


@pytest.mark.parametrize("name", CARRIERS)
def test_each_carrier_is_a_fault_that_a_profile_accepts(name):
    for position in CARRIERS[name].positions:
        fault = entry(
            Cell("override", name, position, "plain"),
            "Say {canary}: 'x', \"y\"\n# z\u2028\ufeff\u200b\U0001f600\x85",
        )
        (made,) = inline(as_yaml(fault)).entries
        assert made.fault.name == CARRIERS[name].fault
        assert yaml.safe_load(as_yaml(fault)) == fault
        assert "\n" not in as_yaml(fault)


def test_neighbours_differ_in_one_dimension():
    whole = grid(["override", "direct"], EVERYTHING, ["plain", "noise"])
    cell = whole.cells[0]
    for near in whole.neighbours(cell):
        assert sum(one != other for one, other in zip(cell, near, strict=True)) == 1
    assert (
        len(whole.neighbours(cell)) == 1 + 1 + 3 + 5
    )  # family, wording, position, carriers with this position
    assert whole.neighbours(Cell("loops", "result", "end", "plain")) == []


def test_each_cell_has_a_number_for_every_subset_of_its_dimensions():
    small = Grid([Cell("a", "r", "end", "plain"), Cell("a", "r", "start", "plain")])
    one, other = (small.projections[cell] for cell in small.cells)
    shared = {SUBSETS[at] for at in range(len(SUBSETS)) if one[at] == other[at]}
    assert shared == {subset for subset in SUBSETS if 2 not in subset}
    with pytest.raises(ValueError, match="needs a cell"):
        Grid([])


def test_a_family_without_a_wording_has_no_cell_of_it():
    found = grid(["override", "direct"], EVERYTHING, ["plain", "noise"], {("direct", "noise")})
    assert {(cell.family, cell.wording) for cell in found.cells} == {
        ("override", "plain"),
        ("override", "noise"),
        ("direct", "plain"),
    }


def test_an_unknown_name_is_refused_with_the_nearest():
    assert chosen((), ("a", "b"), "family") == ("a", "b")
    assert chosen(("b", "b"), ("a", "b"), "family") == ("b",)
    with pytest.raises(UsageError, match="found family `overide`") as error:
        chosen(("overide",), ("override",), "family")
    assert "override" in str(error.value.hint)
