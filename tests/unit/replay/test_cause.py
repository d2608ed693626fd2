"""faultwire.replay.cause: why two runs differ, told from the values that differ."""

from __future__ import annotations

from typing import Any

import pytest

from faultwire.replay.cause import cause_of


@pytest.mark.parametrize(
    ("old", "new", "cause"),
    [
        ("It is 2026-11-23T06:10:17Z now", "It is 2026-11-23T06:10:18.5Z now", "clock"),
        ("Mon Nov 23 06:10:17 2026", "Mon Nov 23 06:10:18 2026", "clock"),
        ("today: 2026-11-23", "today: 2026-11-24", "clock"),
        (1763878217, 1763878219, "clock"),
        ("at 1763878217.1234567", "at 1763878219.7654321", "clock"),
        ("4a1c6c7e-2b1f-4e0e-9d0c-000000000001", "4a1c6c7e-2b1f-4e0e-9d0c-000000000002", "random value"),
        ("pick 0.5488135", "pick 0.7151893", "random value"),
        ("pick 0.1567676070722792", "pick 0.282008524087244", "random value"),
        ("pick 0.1969641615685107", "pick 0.1500802597881914", "random value"),
        ("pick 7.31e-05", "pick 0.5488135", "random value"),
        ("pick 1e-05", "pick 0.5", "random value"),
        ("nonce a81f3c", "nonce 77b2e0d1", "random value"),
        (17, 23, "random value"),
        ("north, south, east", "south, east, north", "order"),
        ("tell me about cats", "tell me about dogs", "code"),
        ("at 06:10:17 about cats", "at 06:10:18 about dogs", "code"),
        (None, "x", "code"),
        (True, False, "code"),
        ({"a": 1}, ["a"], "code"),
    ],
)  # fmt: skip
def test_the_shape_of_a_value_shows_why_it_differs(old: Any, new: Any, cause: str) -> None:
    assert cause_of([(("$", "messages"), old, new)]) == cause


def test_one_place_without_an_explanation_is_the_programs() -> None:
    clock, chance, words = ("06:10:17", "06:10:18"), ("n 1", "n 2"), ("cats", "dogs")

    def places(*pairs: tuple[str, str]) -> list[tuple[tuple[str | int, ...], Any, Any]]:
        return [((at,), old, new) for at, (old, new) in enumerate(pairs)]

    assert cause_of(places(clock, chance)) == "clock"
    assert cause_of(places(chance, clock)) == "random value"
    assert cause_of(places(clock, words)) == "code"
    assert cause_of(places(("cats", "dogs"), ("dogs", "cats"))) == "order"
    assert cause_of([]) == "code"
