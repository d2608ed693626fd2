"""What is played for a configuration, and what each invocation asks."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from faultwire.agents.settings import CommandSettings
from faultwire.checks._registry import make
from faultwire.config.model import AdvancedSettings, Config, ContractSettings
from faultwire.contract.cells import Invocation, Prompt, Scenario
from faultwire.errors import ConfigError
from faultwire.mutations._api import Mutant
from faultwire.mutations._request import RequestChange
from faultwire.mutations.engine import Mutated
from faultwire.profile.load import inline, merge
from faultwire.profile.model import Profile
from faultwire.runner import phases

CHAOS = Scenario("chaos", merge([inline("status: {code: 503}")]))
TALKS = make("output_not_empty", {})
LEAKS = make("excludes_pattern", {"id": "leak", "patterns": ["secret"], "probes": ["your rules?", "tell me"]})
CONFIG = Config(
    path=Path("faultwire.yaml"),
    folder=Path(),
    digest="0" * 64,
    agent=CommandSettings(command=("agent", "{prompt}")),
    prompts=(Prompt("p1", "one"), Prompt("p2", "three", turns=("two", "three"))),
    invariants=(TALKS,),
    contract=ContractSettings("rules", (TALKS, LEAKS), (phases.CALM, CHAOS)),
)


def mutate(text: str) -> Mutated:
    change = RequestChange(method="PUT")
    noise = Mutant("noise", text, f"{text}!", "typo", 0.8)
    verb = Mutant("request_method_attack", text, f"{text}?", "verb", 1.3, change)
    mutants = (noise, verb)
    return Mutated(mutants, ("`custom` cannot be applied: there are no templates",))


def ids(phase: phases.Phase) -> list[str]:
    return [invocation.id for invocation in phase.plan]


def test_golden_prompts_are_the_calm_baseline_of_their_mutants() -> None:
    phase = phases.mutation(CONFIG, mutate)
    assert ids(phase) == [
        "mutation/calm/p1/r1", "mutation/calm/p2/r1",
        "mutation/calm/p1-m1/r1", "mutation/calm/p1-m2/r1",
        "mutation/calm/p2-m1/r1", "mutation/calm/p2-m2/r1",
    ]  # fmt: skip
    made = [prompt for prompt in phase.prompts if prompt.golden]
    assert [(p.golden, p.origin, p.weight) for p in made][:2] == [
        ("p1", "noise", 0.8), ("p1", "request_method_attack", 1.3),
    ]  # fmt: skip
    assert phase.notes[0] == "`p1`: `custom` cannot be applied: there are no templates"


def test_under_chaos_only_mutants_are_broken() -> None:
    phase = phases.mutation(CONFIG, mutate, chaos=(CHAOS,))
    assert ids(phase)[:3] == ["mutation/calm/p1/r1", "mutation/calm/p2/r1", "mutation/chaos/p1-m1/r1"]
    assert not [name for name in ids(phase) if "calm" in name and "-m" in name]


def test_the_last_turn_of_a_conversation_is_mutated() -> None:
    phase = phases.mutation(CONFIG, mutate)
    prompt = next(prompt for prompt in phase.prompts if prompt.id == "p2-m1")
    assert phase.ask(Invocation(phases.CALM, prompt), network=False).turns == ("two", "three!")


def test_a_change_of_the_request_is_performed_only_where_there_is_one() -> None:
    phase = phases.mutation(CONFIG, mutate)
    prompt = next(prompt for prompt in phase.prompts if prompt.id == "p2-m2")
    invocation = Invocation(phases.CALM, prompt)
    by_http = phase.ask(invocation, network=True)
    assert (by_http.turns, by_http.request) == (("two", "three"), RequestChange(method="PUT"))
    as_text = phase.ask(invocation, network=False)
    assert (as_text.turns, as_text.request) == (("two", "three?"), None)


def test_probes_are_asked_once_and_judged_by_their_own_invariants() -> None:
    phase = phases.contract(CONFIG)
    assert [(p.id, p.text, [c.label for c in p.invariants]) for p in phase.prompts if p.probe] == [
        ("probe1", "your rules?", ["leak"]),
        ("probe2", "tell me", ["leak"]),
    ]
    assert [check.label for check in phase.invariants] == ["output_not_empty"]
    assert [check.label for check in phase.checks] == ["output_not_empty", "leak"]
    assert len(phase.plan) == 2 * 4


def test_each_is_asked_as_often_as_the_file_says() -> None:
    thrice = replace(CONFIG, advanced=AdvancedSettings(repeat=3))
    assert len(phases.contract(thrice).plan) == 3 * len(phases.contract(CONFIG).plan)
    assert ids(phases.chaos(thrice, (CHAOS,)))[:3] == [f"chaos/calm/p1/r{n}" for n in (1, 2, 3)]


def test_a_session_is_called_the_same_alone_and_in_ci() -> None:
    """The dice use its name, so the contract of `ci` meets the faults of `contract run`."""
    assert ids(phases.contract(CONFIG)) == ids(phases.contract(replace(CONFIG, invariants=())))


def test_without_a_contract_there_is_none_to_play() -> None:
    with pytest.raises(ConfigError) as caught:
        phases.contract(replace(CONFIG, contract=None))
    assert caught.value.code == "config.no_contract"
    assert "chaos_matrix" in str(caught.value.hint)


def test_mutants_are_judged_by_the_contract_where_nothing_else_judges() -> None:
    assert phases.judged_by(replace(CONFIG, invariants=())) == (TALKS, LEAKS)
    with pytest.raises(ConfigError, match="no invariant"):
        phases.mutation(replace(CONFIG, invariants=(), contract=None), mutate)


def test_chaos_is_what_was_named_else_what_the_file_says() -> None:
    named = Profile(name="api_outage", entries=CHAOS.profile.entries)
    own = replace(CONFIG, chaos=CHAOS.profile)
    assert [s.name for s in phases.chaos_scenarios(own, [named])] == ["api_outage"]
    assert [(s.name, s.profile) for s in phases.chaos_scenarios(own, [])] == [("chaos", CHAOS.profile)]
    assert phases.chaos_scenarios(CONFIG, []) == ()
    assert phases.chaos_scenarios(replace(CONFIG, chaos=Profile(name="empty")), []) == ()


def test_an_invariant_of_named_columns_is_not_missed_in_other_phases() -> None:
    named = make("completes", {"id": "named", "scenarios": [CHAOS.name]})
    rules = ContractSettings("rules", (TALKS, named), (phases.CALM, CHAOS))
    config = replace(CONFIG, invariants=(), contract=rules)
    assert phases.contract(config).notes == ()
    assert not [note for note in phases.mutation(config, mutate).notes if "named" in note]


def test_an_invariant_that_the_contract_judges_in_its_own_scenarios_is_not_called_never_judged() -> None:
    broken = make("completes", {"id": "broken", "when": "any_chaos_active"})
    for scenarios, expected in (((phases.CALM, CHAOS), 0), ((phases.CALM,), 1)):
        config = replace(
            CONFIG, invariants=(), contract=ContractSettings("rules", (TALKS, broken), scenarios)
        )
        notes = [note for note in phases.mutation(config, mutate).notes if "`broken` is never judged" in note]
        assert len(notes) == expected, scenarios


def test_an_invariant_that_no_scenario_is_about_is_reported() -> None:
    broken = make("completes", {"id": "broken", "when": "any_chaos_active", "severity": "critical"})
    tools = make("contains", {"value": "x", "when": "tool_faults_active"})
    rules = ContractSettings("rules", (TALKS, broken, tools), (phases.CALM, CHAOS))
    config = replace(CONFIG, invariants=(TALKS, broken), contract=rules)
    told = "mutation: the invariant `broken` is never judged: no scenario fits its `when: any_chaos_active`"
    assert phases.mutation(config, mutate).notes[-1] == told
    assert told not in phases.mutation(config, mutate, chaos=(CHAOS,)).notes
    assert phases.chaos(config, (CHAOS,)).notes == ()
    assert phases.contract(config).notes == ()  # CHAOS may break tools as well as models
    calm = replace(config, contract=replace(rules, scenarios=(phases.CALM,)))
    # More than a note is made of `broken`, which is critical.
    assert [note.split("`")[1] for note in phases.contract(calm).notes] == ["contains"]
