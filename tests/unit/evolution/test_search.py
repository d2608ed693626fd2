"""Evolution on agents whose weakness is planted: single types, chains of them, and none."""

from __future__ import annotations

import pytest

from faultwire.evolution.mutant import made_again
from faultwire.evolution.search import Evolution, Seen

PROMPTS = ("What is 17 times 23?", "Please cancel the order and send a message to the people")


def weak_to(*chain):
    """An agent that fails where these types were used, and shows by its behaviour how far a mutant is."""

    def ask(mutant, _number, _phase):
        used = {step.type for step in mutant.lineage}
        reached = sum(name in used for name in chain)
        return Seen(reached == len(chain), f"stage {reached}", "planted")

    return ask


def evolved(ask, budget=200, seed=1, **options):
    return Evolution(PROMPTS, ask, seed, budget, **options).run()


@pytest.mark.parametrize("name", ["noise", "encoding_attacks", "token_manipulation", "temporal_attack"])
@pytest.mark.parametrize("seed", range(3))
def test_a_planted_type_is_found_and_confirmed(name, seed):
    found = evolved(weak_to(name), seed=seed, finds=1)
    assert found.ended == "finds"
    (failure,) = found.failures
    assert failure.confirmed
    assert name in [step.type for step in failure.mutant.lineage]


def test_a_chain_is_found_by_its_behaviour_where_single_mutations_never_fail():
    chain = ("noise", "tone_shift")
    found = [evolved(weak_to(*chain), budget=300, seed=seed, finds=1) for seed in range(5)]
    assert sum(one.ended == "finds" for one in found) >= 4
    for one in found:
        for failure in one.failures:
            assert set(chain) <= {step.type for step in failure.mutant.lineage}
            text = PROMPTS[failure.mutant.prompt]
            assert (
                made_again(text, failure.mutant.prompt, failure.mutant.lineage, found.index(one))
                == failure.mutant
            )


def test_without_a_signal_of_behaviour_chains_take_longer():
    def blind(mutant, _number, _phase):
        used = {step.type for step in mutant.lineage}
        return Seen({"noise", "tone_shift"} <= used, "same", "planted")

    assert not any(evolved(blind, seed=seed, finds=1).failures for seed in range(3))


def test_of_an_agent_without_weakness_nothing_is_reported():
    found = evolved(lambda *_: Seen(False, "calm"), budget=80)
    assert (found.failures, found.unfit, found.ended) == ((), (), "budget")
    assert len(found.tried) <= 80


def test_a_failure_that_does_not_come_again_is_not_confirmed():
    def flaky(mutant, _number, phase):
        return Seen(bool(mutant.lineage) and phase == "search", "x", "once")

    found = evolved(flaky, budget=40, finds=3)
    assert found.failures
    assert not any(one.confirmed for one in found.failures)


def test_a_prompt_that_fails_by_itself_has_no_mutants():
    def ask(mutant, _number, _phase):
        return Seen(mutant.prompt == 0, "x", "always")

    found = evolved(ask, budget=60)
    assert found.unfit == (0,)
    assert {one.mutant.prompt for one in found.tried if one.phase == "search"} == {1}
    assert evolved(lambda *_: Seen(True, "x"), budget=60).ended == "exhausted"


@pytest.mark.parametrize("budget", [1, 3, 4, 5, 7, 20, 33])
def test_no_budget_is_exceeded_and_every_failure_is_confirmed(budget):
    asked = []

    def ask(mutant, number, phase):
        asked.append(number)
        return Seen(phase != "prompt", "x", "always")

    found = evolved(ask, budget=budget)
    assert len(asked) == len(found.tried) <= budget
    assert all(one.runs == 2 for one in found.failures)


def test_the_same_seed_asks_the_same_mutants_and_no_mutant_twice():
    runs = [evolved(weak_to("noise"), budget=60, seed=seed) for seed in (4, 4, 5)]
    texts = [[one.mutant.text for one in run.tried if one.phase == "search"] for run in runs]
    assert texts[0] == texts[1] != texts[2]
    assert len(set(texts[0])) == len(texts[0])


def test_types_that_lead_to_failures_are_chosen_more_often():
    found = evolved(weak_to("noise"), budget=200, finds=100)
    used = [one.mutant.lineage[-1].type for one in found.tried if one.phase == "search"]
    assert used.count("noise") > 3 * len(used) / 23


def test_a_search_of_one_exhausted_type_ends():
    found = evolved(lambda *_: Seen(False, "x"), budget=2000, allowed=("paraphrase",))
    assert found.ended in ("exhausted", "budget")
    assert len(found.tried) <= 2000
