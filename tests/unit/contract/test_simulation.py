"""The statistics keep what they promise; the long form is `python -m tests.bench.statistics`."""

import pytest
from tests.bench import statistics as bench


@pytest.fixture(scope="module")
def rows():
    return list(bench.families(42, bench.MATRICES[True]))


def test_false_alarms_of_a_whole_matrix_stay_below_the_level(rows):
    bounded = [row for row in rows if row.bound == "≤ 0.05"]
    assert len(bounded) == 9
    assert [row for row in bounded if not row.holds] == []
    assert all("320 matrices" in row.case for row in bounded), "over 300 of them"


def test_looking_after_every_run_without_care_would_be_seen(rows):
    controls = [row for row in rows if row.bound == "> 0.05"]
    assert [row.what for row in controls] == [
        "control: an interval after every run",
        "control: --until without its share of the level",
    ]
    assert all(row.holds and row.low > 0.3 for row in controls), controls


def test_an_effect_that_is_there_is_found():
    """Not to be fooled by nothing is easy for whoever never says anything."""
    good = bench.share("found", "", bench.nulls(1, 40, 0.97), bench.until_says("good"))
    bad = bench.share("found", "", bench.nulls(2, 40, 0.3), bench.until_says("bad"))
    refuted = bench.share("found", "", bench.nulls(3, 40, 0.3), bench.refuted(0.8))
    assert [good.value, bad.value, refuted.value] == [1.0, 1.0, 1.0]


def test_intervals_hold_the_rate_as_often_as_they_say():
    rows = list(bench.coverage())
    assert len(rows) == 2 * len(bench.METHODS) * len(bench.SIZES)
    assert [row for row in rows if not row.holds] == []


def test_single_comparisons_keep_their_level():
    rows = list(bench.comparisons(sizes=(10, 20)))
    assert [row for row in rows if not row.holds] == []
    assert all(row.value > 0.02 for row in rows), "and are not mute"


def test_the_same_seed_gives_the_same_figures():
    once, again, other = ([str(r) for r in bench.families(seed, 5)] for seed in (1, 1, 2))
    assert once == again
    assert once != other
