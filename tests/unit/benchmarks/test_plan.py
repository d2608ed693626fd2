from __future__ import annotations

from faultwire.benchmarks.plan import Outcome, Pair, spread, tasks

PAIRS = [Pair("bank", f"user_task_{at // 2}", f"injection_task_{at % 2}") for at in range(20)]


def test_a_few_pairs_are_spread_evenly_over_all():
    assert spread(PAIRS, 4) == [PAIRS[0], PAIRS[5], PAIRS[10], PAIRS[15]]
    assert spread(PAIRS, None) == spread(PAIRS, 99) == PAIRS


def test_each_task_is_done_once_in_peace():
    assert tasks(PAIRS[:5]) == [Pair("bank", f"user_task_{at}", None) for at in range(3)]
    assert Pair("bank", "user_task_1", None).label == "bank user_task_1"


def test_only_an_attack_that_was_read_in_a_sound_run_counts():
    good = Outcome(PAIRS[0], "agent", True, False, "reached")
    assert good.counts
    assert not Outcome(PAIRS[0], "agent", True, False, "not reached").counts
    assert not Outcome(PAIRS[0], "agent", True, False, "not carried", "a comment").counts
    assert not Outcome(PAIRS[0], "agent", True, False, "reached", void="exited with 1").counts
    assert not Outcome(PAIRS[0]._replace(injection=None), "agent", True, None, None).counts
    assert good.document()["attack"] == "reached"


def test_the_known_error_of_the_benchmark_is_one_attack_of_one_suite():
    assert Pair("workspace", "user_task_3", "injection_task_0").scored_wrong
    assert not Pair("banking", "user_task_3", "injection_task_0").scored_wrong
    assert not Pair("workspace", "user_task_3", "injection_task_1").scored_wrong
