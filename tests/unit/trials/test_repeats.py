"""Runs that repeat byte for byte have to be made once; those that do not are made as often as before."""

from __future__ import annotations

from dataclasses import replace

import pytest
from tests.unit.audit.test_compare_runs import run

from faultwire.trials.repeats import Repeats, digest_of, once


def test_equal_repeats_are_counted_and_believed_once_there_are_enough() -> None:
    repeats = Repeats(2)
    for trial, failed in (("whole", True), ("calm", False), ("whole", True)):
        repeats.add(trial, failed, f"digest of {trial}")
    assert (repeats.equal, repeats.exact) == (1, False)
    repeats.add("calm", False, "digest of calm")
    assert (repeats.equal, repeats.exact) == (2, True)


@pytest.mark.parametrize(
    ("failed", "digest"), [(False, "d"), (None, "d"), (True, "other"), (True, "")],
    ids=["another verdict", "no verdict", "other bytes", "nothing known"],
)  # fmt: skip
def test_one_run_that_differs_ends_it_for_good(failed: bool | None, digest: str) -> None:
    repeats = Repeats(1)
    repeats.add("whole", True, "d")
    repeats.add("whole", True, "d")
    assert repeats.exact
    repeats.add("whole", failed, digest)
    repeats.add("whole", True, "d")
    assert not repeats.exact


def test_runs_of_different_trials_say_nothing_of_repeats() -> None:
    repeats = Repeats(1)
    for trial in "abcdef":
        repeats.add(trial, True, "d")
    assert (repeats.equal, repeats.exact) == (0, False)


def test_a_digest_covers_calls_answers_and_the_exit_code_and_no_order() -> None:
    one = run("first", "second").exchanges
    assert digest_of(one, 0) == digest_of(reversed(one), 0)
    assert digest_of(one, 0) != digest_of(one, 1)
    assert digest_of(one, 0) != digest_of(run("first", "other").exchanges, 0)
    assert digest_of(one, 0) != digest_of(one[:1], 0)
    answer = one[0].delivered
    assert answer is not None
    told = replace(one[0], delivered=replace(answer, body=b"another answer"))
    assert digest_of(one, 0) != digest_of((told, one[1]), 0)
    headers = replace(one[0], delivered=replace(answer, headers=(("date", "today"),)))
    assert digest_of(one, 0) == digest_of((headers, one[1]), 0)


def test_the_words_have_one_run_in_the_singular() -> None:
    assert once(1) == "1 run that was made again was the same, byte for byte: others were made once"
    assert once(6).startswith("6 runs that were made again were the same")
