"""Scores over invocations, by hand: Flakestorm's weights and what unknown verdicts do to them."""

from __future__ import annotations

import pytest

from faultwire.contract.cells import Cell, Invocation, Prompt, Scenario
from faultwire.contract.matrix import Matrix
from faultwire.contract.overall import (
    is_broken,
    is_mutant,
    outcomes,
    overall,
    phase_score,
    robustness,
    weighted,
)
from faultwire.events import Verdict
from faultwire.profile.load import inline, merge
from faultwire.profile.model import Profile

CALM = Scenario("calm", Profile(name="calm"))
CHAOS = Scenario("chaos", merge([inline("status: {code: 503}")]))
SCORING = {"mutation": 0.20, "chaos": 0.35, "contract": 0.35, "replay": 0.10}


def cell(prompt: Prompt, verdict: str, invariant: str = "i", scenario: Scenario = CALM) -> Cell:
    return Cell(invariant, "medium", Invocation(scenario, prompt), Verdict(verdict, ""))  # type: ignore[arg-type]


UNKNOWN = cell(Prompt("p3", "?"), "unknown")


def mutant(name: str, weight: float) -> Prompt:
    return Prompt(name, "?", weight=weight, origin="noise", golden="p1")


def test_robustness_is_the_weighted_share_of_mutants_that_came_through() -> None:
    matrix = Matrix(
        (
            cell(Prompt("p1", "?"), "fail"),  # the golden prompt is a baseline, not a mutant
            cell(mutant("m1", 1.5), "pass"),
            cell(mutant("m2", 0.8), "fail"),
            cell(mutant("m3", 1.0), "pass"),
        )
    )
    found = robustness(matrix, is_mutant)
    assert found.value == pytest.approx(2.5 / 3.3)
    assert (found.rate.passed, found.rate.total, found.unknown) == (2, 3, 0)


def test_one_failed_cell_fails_an_invocation_and_an_unknown_one_leaves_it_unknown() -> None:
    first, second, third = (mutant(name, 1.0) for name in ("m1", "m2", "m3"))
    matrix = Matrix(
        (
            cell(first, "pass", "a"),
            cell(first, "unknown", "b"),
            cell(second, "unknown", "a"),
            cell(second, "fail", "b"),
            cell(third, "pass", "a"),
        )
    )
    assert list(outcomes(matrix).values()) == ["unknown", "fail", "pass"]
    found = robustness(matrix, is_mutant)
    assert (found.value, found.unknown) == (0.5, 1)


def test_chaos_counts_what_was_broken_only() -> None:
    prompt = Prompt("p1", "?")
    matrix = Matrix((cell(prompt, "pass"), cell(prompt, "fail", scenario=CHAOS)))
    assert robustness(matrix, is_broken).value == 0.0
    assert robustness(matrix, is_mutant).value is None


def test_nothing_judged_is_no_score() -> None:
    assert weighted([(1.0, "unknown")]).value is None
    assert weighted([]).value is None


@pytest.mark.parametrize(
    ("scores", "expected"),
    [
        ({"mutation": 0.8, "chaos": 0.6, "contract": 0.5, "replay": 1.0}, 0.16 + 0.21 + 0.175 + 0.10),
        ({"mutation": 0.8, "contract": 0.5}, (0.16 + 0.175) / 0.55),
        ({"contract": 0.5833}, 0.5833),
        ({"contract": 0.5, "replay": None}, 0.5),
        ({"replay": None}, None),
        ({}, None),
    ],
)
def test_overall_is_the_weighted_mean_of_what_ran(scores: dict, expected: float | None) -> None:
    assert overall(scores, SCORING) == (None if expected is None else pytest.approx(expected))


def test_without_any_weight_phases_count_alike_and_not_as_perfect() -> None:
    assert overall({"mutation": 0.0, "chaos": 0.5}, dict.fromkeys(SCORING, 0.0)) == 0.25


@pytest.mark.parametrize(
    ("phase", "number"),
    [("mutation", 0.6), ("chaos", 0.0), ("replay", 0.5), ("contract", 0.4444), ("", 0.4444)],
)
def test_each_phase_has_its_own_number(phase: str, number: float) -> None:
    matrix = Matrix(
        (
            cell(mutant("m1", 1.5), "pass"),
            cell(mutant("m2", 1.0), "fail"),
            cell(Prompt("p1", "?"), "pass"),
            cell(Prompt("p1", "?"), "fail", scenario=CHAOS),
        )
    )
    found = phase_score(phase, matrix)
    assert found.value == pytest.approx(number)
    assert found.judged == found.asked


def test_a_phase_without_a_verdict_has_no_number() -> None:
    assert phase_score("contract", Matrix((cell(Prompt("p1", "?"), "unknown"),))).value is None


def test_the_worst_cell_counts_wherever_it_stands() -> None:
    prompt, other = mutant("m1", 1.0), mutant("m2", 1.0)
    matrix = Matrix(
        (
            cell(prompt, "fail", "a"),
            cell(prompt, "pass", "b"),
            cell(other, "unknown", "a"),
            cell(other, "pass", "b"),
        )
    )
    assert list(outcomes(matrix).values()) == ["fail", "unknown"]


def test_replayed_incidents_count_alike_whatever_their_cells_weigh() -> None:
    one, two, three = Prompt("p1", "?", weight=9.0), Prompt("p2", "?"), Prompt("p3", "?")
    matrix = Matrix(
        (
            Cell("i", "critical", Invocation(CALM, one), Verdict("pass", "")),
            cell(two, "fail"),
            cell(three, "pass", "a"),
            cell(three, "unknown", "b"),
        )
    )
    found = phase_score("replay", matrix)
    assert (found.value, found.rate.passed, found.rate.total, found.unknown) == (0.5, 1, 2, 1)
    contract = phase_score("contract", matrix)
    assert contract.value == pytest.approx(7 / 9, abs=1e-4)  # p1 and p3 keep 1, p2 loses 2/3
    assert (contract.rate, contract.unknown) == (matrix.score().clean, 1)
    assert (contract.rate.passed, contract.rate.total) == (2, 3)


def test_a_phase_without_a_weight_counts_for_nothing_beside_one_that_has_one() -> None:
    assert overall({"extra": 1.0, "chaos": 0.5}, {"chaos": 0.35}) == pytest.approx(0.5)
    assert overall({"extra": 1.0, "chaos": 0.5}, {}) == pytest.approx(0.75)


def test_a_phase_counts_cells_or_invocations_and_how_many_were_judged() -> None:
    matrix = Matrix((cell(Prompt("p1", "?"), "pass"), cell(Prompt("p2", "?"), "fail"), UNKNOWN))
    for phase, unit in (("contract", "cells"), ("replay", "invocations")):
        found = phase_score(phase, matrix)
        assert (found.judged, found.asked, found.unit) == (2, 3, unit)


@pytest.mark.parametrize(
    ("verdicts", "value"),
    [
        ([(1.0, "pass"), (1.0, "unknown")], None),
        ([(1.0, "pass"), (1.0, "pass"), (1.0, "unknown")], 1.0),
        ([(0.0, "pass")], None),
    ],
)
def test_half_of_the_verdicts_or_weights_of_zero_give_no_number(verdicts, value: float | None) -> None:
    assert weighted(verdicts).value == value
