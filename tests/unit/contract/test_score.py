import pytest

from faultwire import _core
from faultwire.contract.score import Rate, ScenarioScore, Score, rate, resilience

CLEAN = Rate(1, 1, 0.0, 1.0)


def matrix(*rows: tuple[str, str]) -> list[tuple[str, str, str, str]]:
    """Cells of one invocation in one scenario."""
    return [("calm", "calm/p1/r1", severity, verdict) for severity, verdict in rows]


@pytest.mark.parametrize(
    ("cells", "score"),
    [
        ([("critical", "pass"), ("high", "fail"), ("medium", "pass"), ("low", "pass")], 0.0),
        ([("critical", "fail"), ("high", "pass"), ("medium", "pass"), ("low", "pass")], 0.0),
        ([("critical", "pass"), ("medium", "fail")], 33.33),
        ([("medium", "pass"), ("low", "fail")], 66.67),
        ([("critical", "pass"), ("low", "pass"), ("critical", "unknown")], 100.0),
        ([("critical", "pass"), ("critical", "unknown")], None),
        ([("critical", "unknown")], None),
        ([], None),
    ],
)
def test_the_worst_failed_cell_decides_and_half_unknown_gives_no_number(cells, score):
    assert resilience(matrix(*cells))[0] == score


def test_easy_cells_do_not_hide_a_scenario_in_which_everything_failed():
    easy = [("calm", f"calm/p{n}/r1", "high", "pass") for n in range(26)]
    broken = [("cut", f"cut/p1/r{n}", "high", "fail") for n in (1, 2)]
    value, scenarios = resilience([*easy, *broken])
    assert value == 25.0  # of cells, 26 of 28 passed: 92.86
    assert [(one.name, one.value) for one in scenarios] == [("calm", 100.0), ("cut", 0.0)]


def test_a_scenario_without_a_verdict_is_named_with_what_was_asked():
    cells = [("calm", "1", "low", "pass"), ("calm", "2", "low", "pass"), ("cut", "3", "low", "unknown")]
    value, scenarios = resilience(cells)
    assert value == 100.0
    assert scenarios[1] == ScenarioScore("cut", None, 0, 1)


def test_a_word_that_is_none_is_refused():
    with pytest.raises(ValueError, match="unknown severity `severe`"):
        resilience(matrix(("severe", "pass")))


def test_ten_of_ten_is_not_certainty():
    found = rate(10, 10)
    assert found.value == 1.0
    assert (round(found.low, 4), found.high) == (0.7828, 1.0)


def test_no_observation_has_no_rate():
    assert rate(0, 0).value is None
    assert (rate(0, 0).low, rate(0, 0).high) == (0.0, 1.0)


@pytest.mark.parametrize(
    ("passed", "failed", "unknown", "gate"),
    [(3, 0, 0, "pass"), (3, 1, 0, "fail"), (3, 0, 1, "unknown"), (0, 1, 5, "fail"), (0, 0, 0, "unknown")],
)
def test_the_gate_passes_only_where_everything_did(passed, failed, unknown, gate):
    assert Score(1.0, passed, failed, unknown, 0, CLEAN).gate == gate
    never = Score(1.0, passed, failed, unknown, 0, CLEAN, unjudged=1).gate
    assert never == ("fail" if failed else "unknown")


@pytest.mark.parametrize("confidence", [0.8, 0.99])
def test_the_interval_has_the_confidence_that_was_asked_for(confidence):
    low, high = _core.jeffreys_interval(3, 9, confidence)
    assert rate(3, 9, confidence) == Rate(3, 9, low, high, confidence)
