"""What is claimed after a search: of how many faults, and only where it holds."""

from __future__ import annotations

from typing import get_args

import pytest

from faultwire.explore.claim import Reason
from faultwire.report.explored import WHY, in_words, sentence

SETS = {"run": 7, "same call": 2}


@pytest.mark.parametrize(
    ("depth", "faults", "words"),
    [
        (1, 1, "failure by the only fault"),
        (2, 1, "failure by the only fault"),
        (1, 4, "failure by any one of these 4 faults"),
        (2, 4, "failure by any 2 of these 4 faults"),
    ],
)
@pytest.mark.parametrize("found", [True, False])
def test_a_claim_is_about_as_many_faults_as_there_are(
    depth: int, faults: int, words: str, found: bool
) -> None:
    made = sentence(SETS, holds=True, depth=depth, faults=faults, why_not="", found=found)
    some = "no other" if found else "no"
    assert made == f"{some} {words} on this conversation: 7 of 9 sets run, 2 excluded"


def test_where_sets_are_open_or_undecided_nothing_is_claimed() -> None:
    sets = {**SETS, "open": 1, "undecided": 3}
    made = sentence(sets, holds=False, depth=2, faults=4, why_not="1 set was not run", found=False)
    assert made == "no claim: 7 of 13 sets run, 2 excluded: 1 set was not run"


def test_each_reason_but_that_of_what_was_run_has_words() -> None:
    assert {"run", *WHY} == set(get_args(Reason))


@pytest.mark.parametrize("reason", WHY)
def test_one_set_has_a_verb_of_its_own(reason: str) -> None:
    one, many = in_words(reason, 1), in_words(reason, 1200)
    assert one.startswith("1 set ")
    assert many.startswith("1,200 sets ")
    singular = ("holds ", "has ", "is ", "was ", "cannot ", "fired ")
    assert one.removeprefix("1 set ").startswith(singular)
    assert not many.removeprefix("1,200 sets ").startswith(("holds ", "has ", "is ", "was "))
