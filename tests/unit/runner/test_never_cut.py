"""A contract that asks about answers that were cut, and cuts none."""

from __future__ import annotations

import pytest
from tests.unit.runner.test_never_judged import LIMITS, check, config

from faultwire.checks._registry import make
from faultwire.contract.cells import Scenario
from faultwire.faults._registry import registry
from faultwire.profile.load import inline, merge
from faultwire.runner import phases
from faultwire.runner.never_cut import WHOLE, cuts, never_cut

NOTE = "contract: the invariant `halves` judges answers that were cut, and no scenario has a fault that cuts"


def halves(**settings: object):
    return make("truncated_stream_not_accepted", {"id": "halves", "severity": "high", **settings})


def scenario(name: str, *faults: str) -> Scenario:
    return Scenario(name, merge([inline(fault) for fault in faults]))


def notes(invariant, *scenarios: Scenario) -> tuple[str, ...]:
    return phases.contract(config(invariant, scenarios=(phases.CALM, *scenarios))).notes


@pytest.mark.parametrize(
    "faults",
    [
        ("status: {code: 503}",),
        ("refuse: {}", "latency: {ms: 5}"),
        ("{reset: {at: {after_bytes: 9}}, on: {tool: search}}",),
        ("{tool_malformed: {}, on: {tool: search}}",),
        ("memory_poisoning: {}",),
    ],
)
def test_where_no_fault_cuts_an_answer_a_note_says_so(faults: tuple[str, ...]) -> None:
    (note,) = notes(halves(), scenario("down", *faults))
    assert note.startswith(NOTE)
    assert note.endswith("`early_end`, `cut_stream` and `truncate_response` cut answers")


@pytest.mark.parametrize(
    "fault",
    [
        "early_end: {after_events: 2}",
        "cut_stream: {after_events: 2}",
        "truncate_response: {max_tokens: 2}",
        "reset: {at: {after_bytes: 9}}",
        "drop_event: {share: 0.5}",
        "{stream_error: {}, on: {kind: llm}}",
    ],
)
def test_where_one_may_nothing_is(fault: str) -> None:
    assert notes(halves(), LIMITS, scenario("cut", fault)) == ()


def test_only_the_scenarios_that_it_is_judged_in_count() -> None:
    cut = scenario("cut", "early_end: {after_events: 2}")
    assert notes(halves(scenarios=["cut"]), cut) == ()
    (note,) = notes(halves(scenarios=["calm"]), cut)
    assert note.startswith(NOTE)


def test_other_invariants_and_those_that_fit_no_scenario_have_no_such_note() -> None:
    assert notes(check("talks", severity="high"), LIMITS) == ()
    (note,) = notes(
        halves(when="tool_faults_active"), scenario("down", "{status: {code: 503}, on: {kind: llm}}")
    )
    assert note.endswith("is never judged: no scenario fits its `when: tool_faults_active`")
    assert list(never_cut(())) == []


def test_the_faults_that_leave_answers_whole_exist() -> None:
    assert set(registry()) >= WHOLE
    assert not cuts(LIMITS.profile.entries[0])
