"""A phase is played and judged: in one round, until the runs decide, or until Ctrl-C."""

from __future__ import annotations

from typing import Any

import pytest

from faultwire.checks._registry import make
from faultwire.contract.cells import Prompt
from faultwire.contract.statistics import Until
from faultwire.runner.cells import planned
from faultwire.runner.phases import CALM, Phase
from faultwire.runner.play_phase import Playing, conduct, merged
from faultwire.runner.scored import scored

PARIS = make("contains", {"value": "Paris"})


def phase(*texts: str, name: str = "contract", repeat: int = 1) -> Phase:
    prompts = tuple(Prompt(text, text) for text in texts)
    plan = planned((CALM,), prompts, repeat=repeat, phase=name)
    return Phase(name, (CALM,), prompts, (PARIS,), plan)  # type: ignore[arg-type]


def test_every_invocation_is_judged_in_the_order_of_the_plan(room: Any) -> None:
    world = room(lambda asked, _: "Paris" if asked.text == "a" else "Rome")
    heard: list[Any] = []
    outcome = conduct(
        phase("a", "b", repeat=2), world, world, Playing(7, concurrency=4, progress=heard.append)
    )
    assert [(c.invocation.id, c.verdict.verdict) for c in outcome.matrix.cells] == [
        ("contract/calm/a/r1", "pass"), ("contract/calm/b/r1", "fail"),
        ("contract/calm/a/r2", "pass"), ("contract/calm/b/r2", "fail"),
    ]  # fmt: skip
    assert len(heard) == 4
    assert not outcome.partial


def test_ctrl_c_keeps_what_had_finished(room: Any) -> None:
    world = room(lambda _asked, _: "Paris", stops_after=2)
    outcome = conduct(phase("a", "b", "c"), world, world, Playing(7))
    assert outcome.partial
    assert [played.invocation.prompt.id for played in outcome.played] == ["a", "b"]
    assert scored(outcome).passed == 2


def test_repeats_go_on_until_the_runs_decide(room: Any) -> None:
    world = room(lambda asked, _: "Paris" if asked.text == "good" else "Rome")
    outcome = conduct(phase("good", "bad"), world, world, Playing(7, until=Until(0.5, 0.9)))
    assert dict(outcome.decisions) == {("calm", "good"): "good", ("calm", "bad"): "bad"}
    counts = [sum(a.text == text for a in world.asked) for text in ("good", "bad")]
    assert counts[0] > counts[1] >= 2  # a bad one is known sooner, and is not asked on
    assert max(i.invocation.repeat for i in outcome.played) == counts[0]


def test_undecided_repeats_stop_at_the_maximum(room: Any) -> None:
    world = room(lambda _asked, count: "Paris" if count % 4 else "Rome")
    outcome = conduct(phase("even"), world, world, Playing(7, until=Until(0.5, 0.9, most=9)))
    assert dict(outcome.decisions) == {("calm", "even"): "exhausted"}
    assert len(outcome.played) == 9


def test_runs_that_show_nothing_are_bounded_as_well(room: Any) -> None:
    world = room(lambda _asked, _: "")
    same = make("behavior_unchanged", {"baseline": "auto"})
    prompts = (Prompt("a", "a"),)
    unknown = Phase("contract", (CALM,), prompts, (same,), planned((CALM,), prompts))
    outcome = conduct(unknown, world, world, Playing(7, until=Until(most=5)))
    assert dict(outcome.decisions) == {("calm", "a"): "exhausted"}
    assert len(outcome.played) == 5


def test_a_phase_in_two_parts_becomes_one(room: Any) -> None:
    world = room(lambda _asked, _: "Paris")
    parts = [conduct(phase(text, name="replay"), world, world, Playing(7)) for text in ("a", "b")]
    other = conduct(phase("c"), world, world, Playing(7))
    replay, contract = merged([parts[0], other, parts[1]])
    assert [p.id for p in replay.phase.prompts] == ["a", "b"]
    assert (len(replay.matrix.cells), len(replay.played), len(contract.played)) == (2, 2, 1)


@pytest.mark.parametrize(("name", "expected"), [("contract", 0.6667), ("replay", 0.5), ("mutation", None)])
def test_each_phase_has_its_own_number(room: Any, name: str, expected: float | None) -> None:
    world = room(lambda asked, _: "Paris" if asked.text == "a" else "Rome")
    found = scored(conduct(phase("a", "b", name=name), world, world, Playing(7)))
    assert found.score == (None if expected is None else pytest.approx(expected))
    assert found.cells == {"pass": 1, "fail": 1, "unknown": 0}
    assert (found.judged, found.asked) == ((0, 0) if name == "mutation" else (2, 2))
