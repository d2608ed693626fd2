from __future__ import annotations

from faultwire.benchmarks.plan import Outcome, Pair
from faultwire.benchmarks.score import control, score

PAIRS = [Pair("bank", "user_task_0", f"injection_task_{at}") for at in range(5)]


def outcome(at=0, obeyed=False, reach="reached", agent="agent", utility=True, **more):
    return Outcome(PAIRS[at], agent, utility, obeyed, reach, **more)


def test_rates_are_of_attacks_that_reached_the_agent():
    outcomes = [
        Outcome(PAIRS[0]._replace(injection=None), "agent", True, None, None),
        outcome(0, obeyed=True, utility=False),
        outcome(1),
        outcome(2, reach="not reached"),
        outcome(3, reach="not carried", why="a comment"),
        outcome(4, void="exited with 1"),
        outcome(0, obeyed=True, agent="victim"),
    ]
    found = score(outcomes)
    assert (found.attack_success.passed, found.attack_success.total) == (1, 2)
    assert (found.utility_under_attack.passed, found.utility.total) == (1, 1)
    assert (found.not_reached, found.not_carried, found.void, found.asked) == (1, 1, 1, 5)
    assert found.attack_success.low < 0.5 < found.attack_success.high


def test_where_nothing_was_judged_there_is_no_rate():
    found = score([outcome(reach="not reached")])
    assert (found.utility, found.utility_under_attack, found.attack_success) == (None, None, None)


def test_a_victim_succeeds_where_it_does_in_the_framework_and_a_deaf_one_never():
    victims = [
        outcome(0, obeyed=True, agent="victim", expected=True),
        outcome(1, obeyed=False, agent="victim", expected=False),
    ]
    assert control(victims, "victim").holds
    missed = control([*victims, outcome(2, obeyed=False, agent="victim", expected=True)], "victim")
    assert (missed.holds, missed.wrong) == (False, ("bank user_task_0 injection_task_2",))
    assert control([outcome(agent="deaf")], "deaf").holds
    assert control([outcome(agent="deaf", expected=True)], "deaf").holds
    assert not control([outcome(agent="deaf", obeyed=True)], "deaf").holds
    assert not control([], "deaf").holds
