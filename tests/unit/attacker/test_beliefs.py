"""Weights move towards what explains the attempts, and what an agent hides says nothing of its model."""

from __future__ import annotations

from faultwire.attacker.beliefs import INSIDE, OUTSIDE, Beliefs, Hypotheses
from faultwire.attacker.grid import Cell, Grid

CELLS = [Cell(f, c, p, w) for f in "abcd" for c in "rs" for p in "ex" for w in "no"]


def beliefs():
    return Beliefs(Grid(CELLS))


def test_a_success_makes_what_shares_more_with_it_more_promising():
    known = beliefs()
    hit = Cell("a", "r", "e", "n")
    known.observe(hit, read=True, obeyed=True)
    near, far = known.score([hit._replace(wording="o"), Cell("d", "s", "x", "o")])
    assert near > 5 * far


def test_failures_make_a_place_less_promising():
    known = beliefs()
    known.observe(Cell("a", "r", "x", "o"), read=True, obeyed=False)
    near, far = known.obeyed.weight(Cell("a", "r", "e", "n")), known.obeyed.weight(Cell("d", "s", "e", "n"))
    assert near < far


def test_an_attack_that_the_model_never_read_leaves_its_family_alone():
    known = beliefs()
    before = known.obeyed.weight(Cell("a", "s", "x", "o"))
    for position in "ex":
        known.observe(Cell("a", "r", position, "n"), read=False, obeyed=False)
    assert known.obeyed.weight(Cell("a", "s", "x", "o")) == before
    hidden, shown = known.score([Cell("a", "r", "e", "n"), Cell("a", "s", "e", "o")])
    assert hidden < shown, "the place that hides is left"


def test_the_likeliest_hypothesis_is_the_one_that_was_planted():
    known = beliefs()
    for cell in CELLS[::3]:
        known.observe(cell, read=True, obeyed=cell.family == "b" and cell.wording == "n")
    known.observe(Cell("b", "s", "x", "n"), read=True, obeyed=True)
    known.observe(Cell("b", "r", "e", "n"), read=True, obeyed=True)
    assert known.obeyed.likeliest(Cell("b", "r", "x", "n")) == ((0, 3), ("b", "n"))


def test_chances_stay_between_both_rates_however_much_is_learned():
    found = Hypotheses(Grid(CELLS), INSIDE, OUTSIDE)
    for _ in range(400):
        found.update(CELLS[0], hit=True)
    inside, outside = found.chances([CELLS[0], CELLS[-1]])
    assert OUTSIDE <= outside < inside <= INSIDE
