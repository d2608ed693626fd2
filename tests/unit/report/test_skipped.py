"""`report.skipped`: the words for what the real trigger says, and what is left as it stands."""

import pytest
from tests.unit.exchange.test_trigger import judged

from faultwire.dice import Dice
from faultwire.exchange.session_state import SessionState, Subject
from faultwire.profile.entry_model import Stage
from faultwire.report.skipped import BY_CHANCE, in_words


def reasons(count, trigger):
    """Those of so many calls that the trigger skipped, as the ledger has them."""
    dice, state, found = Dice(1, "s"), SessionState(), {}
    for call in range(count):
        verdict = judged(dice, state, call, **trigger)
        state.note("e", Subject("k", call, 0), verdict)
        if verdict[0] == "skip":
            found[verdict[1]] = None
    return list(found)


@pytest.mark.parametrize(
    ("count", "trigger", "words"),
    [
        (
            1,
            {"after_calls": 1},
            "its trigger leaves the first call alone (`after_calls: 1`), and no later one matched",
        ),
        (
            2,
            {"after_calls": 3},
            "its trigger leaves the first 3 calls alone (`after_calls: 3`), and no later one matched",
        ),
        (1, {"calls": (2,)}, "its trigger acts on call 2 only (`calls: [2]`), of which none matched"),
        (
            1,
            {"calls": (2, 5)},
            "its trigger acts on calls 2, 5 only (`calls: [2, 5]`), of which none matched",
        ),
        (1, {"every": 2}, "its trigger acts on one call in 2 (`every: 2`), and none of those matched"),
        (3, {"first": 1}, "its trigger acts on the first call only (`first: 1`)"),
        (
            2,
            {"between_s": (5.0, 6.0)},
            "its trigger acts from 5 to 6 s of the session only (`between_s: [5, 6]`), "
            "and nothing matched then",
        ),
        (3, {"probability": 1e-9}, f"{BY_CHANCE} it was not to act on any call (`probability: 1e-09`)"),
        (
            1,
            {"stages": (Stage(for_calls=2, probability=1e-9),)},
            f"{BY_CHANCE} it was not to act on the calls of that stage (`probability: 1e-09` in stage 1)",
        ),
    ],
)
def test_a_trigger_that_never_acted_is_named_with_its_settings(count, trigger, words):
    assert in_words(reasons(count, trigger)) == [words]


def test_what_is_true_of_some_calls_only_is_not_said_of_all():
    both = in_words(reasons(3, {"after_calls": 1, "probability": 1e-9}))
    assert both == [
        "its trigger leaves the first call alone (`after_calls: 1`)",
        f"{BY_CHANCE} it was not to act on the other calls (`probability: 1e-09`)",
    ]


@pytest.mark.parametrize("reason", ["the request asks for no stream", "recovered after 2 calls", "rolled up"])
def test_other_reasons_stay(reason):
    assert in_words([reason]) == [reason]
