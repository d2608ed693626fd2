from dataclasses import replace

import pytest

from faultwire import _core
from faultwire.contract.matrix import Matrix
from faultwire.report.mutations import mutations_part


@pytest.fixture
def mutants(make_matrix):
    """A matrix whose prompts are mutants: `origin, weight, verdict` each."""

    def make(*rows):
        cells = []
        for at, (origin, weight, verdict) in enumerate(rows):
            (cell,) = make_matrix(("calm", f"m{at}", 1, "a", verdict)).cells
            prompt = replace(cell.invocation.prompt, origin=origin, weight=weight, golden="p1")
            cells.append(replace(cell, invocation=replace(cell.invocation, prompt=prompt)))
        return Matrix(tuple(cells))

    return make


def test_each_type_has_its_rate_and_robustness_is_weighted(mutants):
    part = mutations_part(
        mutants(
            ("noise", 1.0, "pass"),
            ("noise", 1.0, "fail"),
            ("jailbreak", 2.0, "pass"),
            ("noise", 1.0, "unknown"),
        ),
        ["`x` could not be applied"],
    )
    assert part["robustness"] == 0.75  # (1 + 2) of (1 + 1 + 2)
    assert (part["passed"], part["total"], part["unknown"]) == (2, 3, 1)
    jailbreak, noise = part["types"]
    assert (jailbreak["type"], jailbreak["weight"], jailbreak["rate"]) == ("jailbreak", 2.0, 1.0)
    assert (noise["passed"], noise["total"], noise["unknown"]) == (1, 2, 1)
    assert (noise["low"], noise["high"]) == _core.jeffreys_interval(1, 2, 0.95)
    assert part["notes"] == ["`x` could not be applied"]


def test_one_failed_invariant_fails_a_mutant(mutants):
    first, second = mutants(("noise", 1.0, "pass"), ("noise", 1.0, "fail")).cells
    part = mutations_part(Matrix((first, replace(second, invariant="b", invocation=first.invocation))))
    assert (part["passed"], part["total"]) == (0, 1)


def test_golden_prompts_are_not_mutants(make_matrix):
    assert mutations_part(make_matrix(("calm", "p1", 1, "a", "pass"))) is None


def test_mutants_without_a_verdict_have_no_robustness(mutants):
    part = mutations_part(mutants(("noise", 1.0, "unknown")))
    assert (part["robustness"], part["types"][0]["rate"], part["unknown"]) == (None, None, 1)
