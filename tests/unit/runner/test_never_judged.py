"""Critical invariants that a run never judged, and what is said of them."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from faultwire.agents.settings import CommandSettings
from faultwire.checks._registry import make
from faultwire.config.model import Config, ContractSettings
from faultwire.contract.cells import Prompt, Scenario
from faultwire.contract.matrix import applies, judge
from faultwire.events import AgentResult, History, Verdict
from faultwire.mutations.engine import Mutated
from faultwire.profile.load import find, inline, load, merge
from faultwire.runner import phases
from faultwire.runner.never_judged import foreseen, unjudged
from faultwire.runner.play_phase import Outcome
from faultwire.runner.run import Played

LIMITS = Scenario("limits", merge([inline("rate_limit: {}")]))
TOOLS = Scenario("tools", merge([inline("{tool_error: {}, on: {tool: search}, id: no-search}")]))
SAYS = AgentResult("fine", 0, 0.1)


def check(label: str, when: str = "always", severity: str = "critical", **settings: object):
    return make("output_not_empty", {"id": label, "when": when, "severity": severity, **settings})


def config(*invariants, scenarios=(phases.CALM, LIMITS), own=(), expected=()) -> Config:
    return Config(
        path=Path("faultwire.yaml"),
        folder=Path(),
        digest="0" * 64,
        agent=CommandSettings(command=("agent", "{prompt}")),
        prompts=(Prompt("p1", "one", tuple(expected)),),
        invariants=tuple(own),
        contract=ContractSettings("rules", invariants, tuple(scenarios)),
    )


def outcome(phase: phases.Phase, *, agent: AgentResult | None = SAYS, partial: bool = False) -> Outcome:
    """A phase in which the agent asked nobody: no fault fired."""
    pairs = [(one, History(one.id, (), agent=agent)) for one in phase.plan]
    played = tuple(Played(one, history) for one, history in pairs)
    return Outcome(phase, played, judge(phase.invariants, pairs), partial)


def told(phase: phases.Phase, command: str = "contract", **how):
    (one,) = unjudged([outcome(phase, **how)], command)
    return one.matrix


def test_an_invariant_that_fits_no_scenario_is_found_before_the_run() -> None:
    phase = phases.contract(
        config(check("talks"), check("copes", "tool_faults_active"), scenarios=(phases.CALM,))
    )
    (one,) = foreseen([phase], "contract")
    assert one.why == (
        "the critical invariant `copes` is never judged: its `when: tool_faults_active` fits none of the "
        "scenarios `calm`"
    )
    assert one.hint == (
        "add such a scenario to `contract.chaos_matrix`, for example "
        "`{name: tools-down, profile: tool_outage}`, or change its `when`"
    )
    matrix = told(phase)
    assert matrix.unjudged == (one,)
    assert [cell.verdict.verdict for cell in matrix.cells] == ["pass"]  # `talks` in calm: all was well
    assert (matrix.score().gate, matrix.score().value) == ("unknown", 100.0)  # the formula is as it was


def test_the_named_scenarios_are_in_the_message() -> None:
    copes = check("copes", "no_chaos", scenarios=("limits",))
    (one,) = foreseen([phases.contract(config(check("talks"), copes))], "contract")
    assert one.why.endswith(
        "its `when: no_chaos` (only in `limits`) fits none of the scenarios `calm`, `limits`"
    )


def test_an_invariant_whose_fault_never_fired_has_a_hint() -> None:
    phase = phases.contract(
        config(
            check("talks", severity="low"),
            check("copes", "tool_faults_active"),
            scenarios=(phases.CALM, TOOLS),
        )
    )
    assert foreseen([phase], "contract") == ()  # it could have been judged
    (one,) = told(phase).unjudged
    assert one.why == (
        "the critical invariant `copes` was never judged: its only cell is unknown, because its "
        "`when: tool_faults_active` was never true: no tool fault of `profile` fired (the agent sent "
        "no traffic through the proxy)"
    ).replace("`profile`", f"`{TOOLS.profile.name}`")
    assert one.hint == (
        "make a fault of a tool fire: change `on` and `trigger` of `no-search` in `tools`, or use a prompt "
        "that makes the agent send such a request"
    )
    assert one.cells == 1


def test_one_that_lacked_something_else_points_to_its_cells() -> None:
    phase = phases.contract(config(check("talks"), scenarios=(phases.CALM,)))
    (one,) = told(phase, agent=None).unjudged
    assert one.why.endswith("its only cell is unknown, not only because faults did not fire")
    assert one.hint == "see the explanations of its cells in the report"


def test_one_verdict_is_enough() -> None:
    phase = phases.contract(config(check("talks"), scenarios=(phases.CALM, TOOLS)))
    matrix = told(phase)
    assert {cell.verdict.verdict for cell in matrix.cells} == {"pass", "unknown"}
    assert matrix.unjudged == ()


@pytest.mark.parametrize("severity", ["high", "medium", "low"])
def test_others_than_critical_ones_stay_notes(severity: str) -> None:
    phase = phases.contract(
        config(check("talks"), check("copes", "tool_faults_active", severity), scenarios=(phases.CALM,))
    )
    assert foreseen([phase], "contract") == ()
    assert told(phase).unjudged == ()
    assert told(phase).score().gate == "pass"
    assert len(phase.notes) == 1


def test_an_interrupted_run_reports_no_missing_verdicts() -> None:
    said = config(check("talks"), check("copes", "tool_faults_active"), scenarios=(phases.CALM, TOOLS))
    assert told(phases.contract(said), partial=True).unjudged == ()
    calm = replace(said, contract=replace(said.contract, scenarios=(phases.CALM,)))
    assert len(told(phases.contract(calm), partial=True).unjudged) == 1


@pytest.mark.parametrize("command", ["run", "chaos", "replay"])
def test_only_gates_answer_for_every_line(command: str) -> None:
    phase = phases.contract(config(check("copes", "no_chaos"), scenarios=(LIMITS,)))
    assert told(phase, command).unjudged == ()
    assert foreseen([phase], command) == ()
    assert len(told(phase).unjudged) == 1


def test_in_ci_one_phase_that_judges_it_is_enough() -> None:
    copes = check("copes", "llm_faults_active")
    said = config(check("talks"), own=(check("speaks"), copes))
    mutants = phases.mutation(said, lambda _: Mutated(()))
    broken = phases.chaos(said, (LIMITS,))
    assert [one.invariant for one in foreseen([mutants, phases.contract(said)], "ci")] == ["copes"]
    assert foreseen([mutants, broken, phases.contract(said)], "ci") == ()
    calm, chaos, contract = unjudged(
        [outcome(mutants), outcome(broken), outcome(phases.contract(said))], "ci"
    )
    assert (calm.matrix.unjudged, contract.matrix.unjudged) == ((), ())
    (one,) = chaos.matrix.unjudged  # the last phase that has it: nothing fired
    assert (one.invariant, one.cells) == ("copes", 1)
    again = replace(chaos, matrix=replace(chaos.matrix, cells=tuple(
        replace(cell, verdict=Verdict("fail", "it says nothing")) for cell in chaos.matrix.cells
    )))  # fmt: skip
    assert not any(each.matrix.unjudged for each in unjudged([outcome(mutants), again], "ci"))


def test_a_prompts_own_invariants_count_where_the_prompt_is_asked() -> None:
    own = check("greets", "no_chaos")
    assert foreseen([phases.contract(config(check("talks"), expected=(own,)))], "contract") == ()
    never = foreseen(
        [phases.contract(config(check("talks"), scenarios=(LIMITS,), expected=(own,)))], "contract"
    )
    assert [one.invariant for one in never] == ["greets"]


@pytest.mark.parametrize(
    ("when", "example"),
    [
        ("tool_faults_active", "tool_outage"),
        ("llm_faults_active", "rate_limits"),
        ("any_chaos_active", "rate_limits"),
        ("no_chaos", "calm"),
    ],
)
def test_the_scenario_that_is_recommended_would_do(when: str, example: str) -> None:
    other = LIMITS if when == "no_chaos" else phases.CALM
    phase = phases.contract(config(check("copes", when), scenarios=(other,)))
    (one,) = foreseen([phase], "contract")
    assert example in one.hint
    profile = load(find(example))
    assert applies(when, profile)
    whole = phases.contract(config(check("copes", when), scenarios=(other, Scenario(example, profile))))
    assert foreseen([whole], "contract") == ()
