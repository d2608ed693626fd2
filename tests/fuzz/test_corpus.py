"""The fuzzers at work: what is in their corpus holds, and each finds a bug that is planted."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import HealthCheck, given, seed, settings
from tests.fuzz import frames, heads
from tests.fuzz.__main__ import Campaign
from tests.fuzz.targets import Target, named

from faultwire.mitm.compat import http2

TARGETS = named()


@pytest.mark.parametrize("name", TARGETS)
def test_what_was_found_once_holds(name: str) -> None:
    for path in TARGETS[name].corpus():
        TARGETS[name].check(path.read_bytes())


@pytest.mark.parametrize(("name", "count"), [("heads", 300), ("fields", 300), ("frames", 100), ("yaml", 40),
                                             ("tapes", 20), ("imports", 100)])  # fmt: skip
def test_a_short_campaign_takes_some_inputs_and_refuses_others(name: str, count: int) -> None:
    taken: list[bool] = []

    @seed(1)
    @settings(max_examples=count, database=None, deadline=None, suppress_health_check=list(HealthCheck))
    @given(TARGETS[name].cases)
    def once(case: Any) -> None:
        taken.append(TARGETS[name].check(case))

    once()
    assert {True, False} == set(taken), (
        "a fuzzer whose inputs are all refused, or all taken, looks at nothing"
    )


def passes(head: Any) -> str | None:
    """Validation that is switched off."""
    return None


@pytest.mark.parametrize(
    ("target", "module", "name"),
    [
        (heads.HEADS, heads, "request_flaw"),
        (heads.FIELDS, heads, "request_flaw"),
        (frames.FRAMES, http2, "request_flaw"),
    ],
)
def test_without_our_validation_something_is_found(
    target: Target, module: Any, name: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Any
) -> None:
    broken: Callable[[Any], str | None] = passes
    monkeypatch.setattr(module, name, broken)
    monkeypatch.setattr("tests.fuzz.__main__.CORPUS", tmp_path)
    campaign = Campaign(target)
    number = 0
    while not campaign.found:
        campaign._batch(number)
        number += 1
    (path, *_) = (tmp_path / target.name).iterdir()
    monkeypatch.undo()
    assert target.check(path.read_bytes()) in (True, False), "with it the same input does no harm"
