"""Scores and intervals (`faultwire._core`, module score)."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from faultwire import _core

VECTORS = json.loads((Path(__file__).parents[2] / "vectors" / "score.json").read_text())


def cells(case: list[list[str]]) -> list[tuple[str, str, str, str]]:
    return [(scenario, invocation, severity, verdict) for scenario, invocation, severity, verdict in case]


@pytest.mark.parametrize("case", VECTORS["scores"], ids=lambda case: str(case["score"]))
def test_resilience_score(case):
    score, scenarios = _core.resilience_score(cells(case["cells"]))
    assert score == case["score"]
    assert [list(row) for row in scenarios] == case["scenarios"]


@pytest.mark.parametrize("case", VECTORS["refused"], ids=str)
def test_unknown_words_are_refused(case):
    with pytest.raises(ValueError, match=r"^unknown (severity|verdict) `.*`, expected "):
        _core.resilience_score(cells(case))


@pytest.mark.parametrize("case", VECTORS["jeffreys"], ids=lambda case: f"{case['passed']}/{case['total']}")
def test_jeffreys_interval(case):
    lower, upper = _core.jeffreys_interval(case["passed"], case["total"], case["confidence"])
    assert lower == pytest.approx(case["lower"], abs=1e-12)
    assert upper == pytest.approx(case["upper"], abs=1e-12)


@pytest.mark.parametrize(
    "arguments", [(2, 1), (-1, 1), (0, -1), (1, 2, 0.0), (1, 2, 1.0), (1, 2, float("nan"))]
)
def test_interval_refuses(arguments):
    with pytest.raises(ValueError, match=r"^`(passed|total|confidence)` is "):
        _core.jeffreys_interval(*arguments)


def test_the_module_says_its_version():
    assert _core.__version__.count(".") == 2


def test_everything_visible_is_exported():
    visible = {name for name in dir(_core) if not name.startswith("_")}
    assert set(_core.__all__) == visible | {"__version__"}
