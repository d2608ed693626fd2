"""The search on defenders whose weakness is known: see `tests.bench.adaptive`."""

from __future__ import annotations

import pytest
from tests.bench import adaptive as bench

from faultwire.attacker.grid import Cell, Grid
from faultwire.attacker.search import Meter, OutOfRuns, Search

EVERYTHING = bench.whole_grid()
BUDGET = int(bench.SHARE * len(EVERYTHING.cells))
DEFENDERS = [bench.planted(seed, EVERYTHING) for seed in range(20)]


@pytest.fixture(scope="module")
def played():
    return [bench.play(one, EVERYTHING, BUDGET, at) for at, one in enumerate(DEFENDERS)]


def test_each_planted_weakness_is_found_within_the_share_of_the_grid(played):
    for defender, one in zip(DEFENDERS, played, strict=True):
        assert one.claimed, defender
        assert one.runs <= BUDGET
        assert defender.weak(one.finds[0].candidate.cell), "what is claimed was planted"


def test_the_search_beats_the_best_static_attack_there_could_be(played):
    _, broke, test = bench.against_static(DEFENDERS, played, EVERYTHING)
    assert broke < len(DEFENDERS)
    assert test.test == "mcnemar"
    assert test.p_value is not None
    assert test.p_value < 0.05
    assert test.difference is not None
    assert test.difference > 0


def test_the_search_needs_fewer_runs_than_chance(played):
    chance = [
        bench.play(one, EVERYTHING, BUDGET // 4, at, search=bench.ByChance)
        for at, one in enumerate(DEFENDERS[:4])
    ]
    assert sum(one.runs for one in chance) > 1.5 * sum(one.runs for one in played[:4])


@pytest.mark.parametrize("noise", [0.0, 0.01])
def test_of_a_deaf_defender_nothing_is_claimed(noise):
    for seed in range(4):
        one = bench.play(bench.deaf(seed, noise), EVERYTHING, 250, seed, finds=3)
        assert not one.claimed
        assert one.runs >= 250 - 10, "it gives up only where a confirmation would not fit"


def test_the_same_seed_makes_the_same_attempts_and_another_one_others():
    first, again, other = (bench.play(DEFENDERS[3], EVERYTHING, 120, seed).result.tried for seed in (5, 5, 6))
    assert first == again
    assert first[:5] != other[:5]


@pytest.mark.parametrize("budget", [1, 5, 12, 13, 14, 31, 60])
@pytest.mark.parametrize("seed", range(3))
def test_no_budget_is_ever_exceeded(budget, seed):
    every = bench.Defender(None, {}, 0.5, seed)
    one = bench.play(every, EVERYTHING, budget, seed, finds=5)
    assert one.runs <= budget
    assert one.runs == len(one.result.tried)
    for found in one.result.candidates:
        assert found.total == bench.CONFIRM, "what was promised to a confirmation is there"


def test_a_meter_gives_no_run_that_there_is_not():
    meter = Meter(2)
    assert [meter.take(), meter.take(), meter.left] == [1, 2, 0]
    with pytest.raises(OutOfRuns):
        meter.take()


def test_a_text_without_the_wording_is_never_tried():
    cell = Cell("multilingual", "result", "end", "leetspeak")
    lacking = {("multilingual", at, "leetspeak") for at in (0, 2, 3, 4)}
    asked = []

    def resists(attempt, _number):
        asked.append(attempt.payload)
        return "read"

    Search(Grid([cell]), bench.payloads(), 1, Meter(20), unworded=lacking).run(resists)
    assert set(asked) == {1}
    asked.clear()
    Search(Grid([cell]), bench.payloads(), 1, Meter(20)).run(resists)
    assert set(asked) == {0, 1, 2, 3, 4}


def test_inconclusive_runs_cost_but_say_nothing():
    calls = []

    def void(attempt, number):
        calls.append(number)
        return "void"

    found = Search(EVERYTHING, bench.payloads(), 1, Meter(40)).run(void)
    assert (len(calls), found.candidates, found.ended) == (30, (), "budget")


def test_further_finds_are_looked_for_outside_of_the_region_of_the_first():
    weak = Grid([Cell(f, c, "end", w) for f in bench.payloads() for c in ("result", "memory") for w in "ab"])

    def obeys(attempt, _number):
        return "obeyed" if attempt.cell.family in ("loops", "direct") else "read"

    found = Search(weak, bench.payloads(), 1, Meter(200), finds=2).run(obeys)
    assert {one.cell.family for one in found.candidates} == {"loops", "direct"}
    assert found.ended == "finds"
    tiny = Grid([Cell("loops", "result", "end", "plain")])
    assert Search(tiny, bench.payloads(), 1, Meter(50), finds=2).run(obeys).ended == "grid"


def test_the_interval_of_a_confirmation_holds_where_that_of_the_search_does_not():
    held, naive = bench.coverage(60, bench.RARE, 3)
    assert held >= 0.95
    assert naive < 0.9, "a control: what the search itself counts flatters it"


def test_a_needle_of_which_nothing_else_says_anything_is_not_promised():
    one = bench.play(bench.needle(1, EVERYTHING), EVERYTHING, 200, 1)
    assert not one.claimed


@pytest.mark.nightly
@pytest.mark.parametrize("seed", [100, 200, 300])
def test_other_defenders_are_found_as_well(seed):
    defenders = [bench.planted(seed + at, EVERYTHING) for at in range(20)]
    every = [bench.play(one, EVERYTHING, BUDGET, at) for at, one in enumerate(defenders)]
    assert [one.claimed for one in every] == [True] * 20
    _, _, test = bench.against_static(defenders, every, EVERYTHING)
    assert test.p_value is not None
    assert test.p_value < 0.05
