"""The search: what guidance is worth, budgets to the run, and the same cases for the same seed."""

from __future__ import annotations

import json

from tests.unit.fuzz.simulated import CRASH, SOURCE, behind_two, player, searched

from faultwire.fuzz.corpus import Corpus
from faultwire.fuzz.crash import Crash
from faultwire.fuzz.search import Found, Search, Seen

SEEDS = range(10)
BUDGET = 250


def fragile(order):
    """Crashes where the total is no number, in one of two ways."""
    total = order.get("total", 0) if isinstance(order, dict) else 0
    if isinstance(total, int | float):
        return frozenset({"usual"}), None
    return frozenset(), CRASH._replace(key="null" if total is None else "other")


def test_guided_reaches_what_lies_behind_two_conditions_and_blind_does_not():
    guided = [bool(searched(behind_two, seed, BUDGET).found) for seed in SEEDS]
    blind = [bool(searched(behind_two, seed, BUDGET, guided=False).found) for seed in SEEDS]
    assert sum(guided) >= 8, guided
    assert sum(blind) <= 2, blind


def test_the_same_seed_makes_the_same_cases_and_another_seed_others():
    logs = [[], [], []]
    for log, seed in zip(logs, (1, 1, 2), strict=True):
        searched(fragile, seed, 60, log=log)
    assert logs[0] == logs[1]
    assert logs[0] != logs[2]


def test_the_budget_is_kept_to_the_run_with_confirming_and_shrinking():
    for budget in range(1, 40):
        log = []
        result = searched(fragile, 1, budget, log=log)
        assert len(log) == len(result.tried) <= budget
        assert (result.ended, len(log)) == ("budget", budget)


def test_runs_that_were_made_before_count():
    log = []
    searched(fragile, 1, 20, before=15, log=log)
    assert [line.split()[0] for line in log] == ["16", "17", "18", "19", "20"]


def test_time_ends_a_search_and_says_so():
    left = [True] * 5

    def late():
        return not left or not left.pop()

    assert searched(fragile, 1, 100, late=late).ended == "time"


def test_two_crashes_stay_two_and_each_is_confirmed_and_made_smaller():
    found = {one.crash.key: one for one in searched(fragile, 1, 300, finds=2).found}
    assert set(found) == {"null", "other"}
    for one in found.values():
        assert one.confirmed
        assert len(one.smallest.parts[0].text) < len(SOURCE.bases["seen"])
        assert "total" in json.loads(one.smallest.parts[0].text)


def test_a_crash_that_does_not_come_again_is_not_confirmed():
    count = iter(range(1000))

    def play(case, number, phase):
        return Seen(("agent",), frozenset(), CRASH if next(count) == 0 else None)

    (one,) = Search(Corpus((SOURCE,), 1), play, 5, finds=1).run().found
    assert (one.confirmed, one.repeats, one.shrinking) == (False, 1, 0)
    assert not Found(CRASH, one.case, one.case, 1).confirmed, "without a repeat it is not confirmed either"


def test_what_a_crash_showed_is_not_learned():
    seen = []

    def play(case, number, phase):
        seen.append(number)
        crash = Crash("exit", "a", "exited 1") if number == 1 else None
        return Seen(("agent",), frozenset({"news"}), crash)

    result = Search(Corpus((SOURCE,), 1), play, 4, confirm=0, shrink=0).run()
    assert [one.news for one in result.tried] == [0, 1, 0, 0]


def test_nothing_left_to_generate_ends_a_search():
    corpus = Corpus((SOURCE,), 1)
    corpus.next = lambda number: None
    assert Search(corpus, player(fragile), 5).run().ended == "exhausted"


def test_three_crashes_of_which_one_lies_behind_two_conditions_are_found_by_nearly_every_seed():
    """The agent of the end-to-end test, with a larger result and so more runs."""

    def three(order):
        try:
            status, total, items = order["status"], order["total"], order["items"]
            count = items[0]["count"] if items else 0
        except (LookupError, TypeError):
            return frozenset({"usual"}), None
        if items == []:
            return frozenset(), CRASH._replace(key="empty")
        if status is None and isinstance(count, int | float) and abs(count) > 1e9:
            return frozenset(), CRASH
        if not isinstance(total, int | float | list):
            return frozenset(), CRASH._replace(key="total")
        return frozenset({"usual", *(["audit", "audit >", "> audit"] if status is None else [])}), None

    found = [len(searched(three, seed, 300, shrink=4).found) for seed in range(8)]
    assert sum(count == 3 for count in found) >= 6, found
