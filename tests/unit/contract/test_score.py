import pytest

from faultwire import _core
from faultwire.contract.score import Rate, Score, rate, resilience

CLEAN = Rate(1, 1, 0.0, 1.0)


@pytest.mark.parametrize(
    ("cells", "score"),
    [
        ([("critical", "pass"), ("high", "fail"), ("medium", "pass"), ("low", "pass")], 71.43),  # 5/7
        ([("critical", "fail"), ("high", "pass"), ("medium", "pass"), ("low", "pass")], 57.14),  # 4/7
        ([("medium", "pass"), ("low", "fail")], 50.0),
        ([("critical", "pass"), ("critical", "unknown")], 100.0),
        ([("critical", "unknown")], None),
        ([], None),
    ],
)
def test_weights_are_3_2_1_1_and_unknown_cells_do_not_count(cells, score):
    assert resilience(cells) == score


def test_a_word_that_is_none_is_refused():
    with pytest.raises(ValueError, match="unknown severity `severe`"):
        resilience([("severe", "pass")])


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
