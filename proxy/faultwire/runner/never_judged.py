"""Critical invariants that a run never judged: a gate must report them.

Some could not be judged, since nothing that is played is what their `when` is about; that is known before
anything is started. Others could have been, but all of their cells are unknown.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from faultwire.contract.matrix import Unjudged, aims, fits, lacking

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from faultwire.checks._api import Check
    from faultwire.contract.cells import Cell, Scenario
    from faultwire.runner.phases import Phase
    from faultwire.runner.play_phase import Outcome
    from faultwire.runner.run import Played

CRITICAL = "critical"
GATES = ("contract", "ci")
"""Commands that answer for every critical invariant; `run` and `chaos` play a part of a file by choice."""
JUDGING = ("mutation", "chaos", "contract")
"""Phases whose invariants the configuration names; an incident session has the contract that fits it."""
NAMED = 5
"""Scenarios and entries that a message names."""
_FAULT = {"tool_faults_active": "fault of a tool", "llm_faults_active": "fault of a model"}
_SIDE = {"tool_faults_active": "tool", "llm_faults_active": "llm"}
_EXAMPLE = {
    "tool_faults_active": "`{name: tools-down, profile: tool_outage}`",
    "llm_faults_active": "`{name: limits, profile: rate_limits}`",
    "any_chaos_active": "`{name: limits, profile: rate_limits}`",
    "no_chaos": "`{name: calm}`",
}


def foreseen(phases: Sequence[Phase], command: str) -> tuple[Unjudged, ...]:
    """The critical invariants that no phase can judge."""
    return tuple(one.idle() for one in _critical(phases, command) if not one.could)


def unjudged(outcomes: Sequence[Outcome], command: str) -> tuple[Outcome, ...]:
    """The outcomes with their critical invariants that got no verdict anywhere in the run.

    Each is reported in the last phase that has it. What an interrupted run did not come to is left out.
    """
    partial = any(outcome.partial for outcome in outcomes)
    found: dict[str, list[Unjudged]] = {}
    for one in _critical([outcome.phase for outcome in outcomes], command):
        cells, played = _seen(one, outcomes)
        if not one.could:
            found.setdefault(one.phase, []).append(one.idle())
        elif cells and not partial and all(cell.verdict.verdict == "unknown" for cell in cells):
            found.setdefault(one.phase, []).append(one.silent(cells, played))
    return tuple(
        replace(outcome, matrix=replace(outcome.matrix, unjudged=tuple(found.get(outcome.phase.name, ()))))
        for outcome in outcomes
    )


@dataclass(slots=True)
class _Critical:
    """A critical invariant, and what is planned for it. `phase` is the last that has it."""

    check: Check
    phase: str = ""
    phases: set[str] = field(default_factory=set)
    scenarios: dict[tuple[str, str], Scenario] = field(default_factory=dict)
    """All that are played with prompts that it is judged on, by phase and name."""

    @property
    def fitting(self) -> list[Scenario]:
        return [s for s in self.scenarios.values() if fits(self.check, s)]

    @property
    def could(self) -> bool:
        return bool(self.fitting)

    def idle(self) -> Unjudged:
        """The result for an invariant that fits no scenario."""
        check = self.check
        named = f" (only in {_named(check.scenarios)})" if check.scenarios else ""
        why = (
            f"the critical invariant `{check.label}` is never judged: its `when: {check.when}`{named} fits "
            f"none of the scenarios {_named(dict.fromkeys(name for _, name in self.scenarios))}"
        )
        example = _EXAMPLE.get(check.when, _EXAMPLE["any_chaos_active"])
        hint = f"add such a scenario to `contract.chaos_matrix`, for example {example}, or change its `when`"
        if self.phase != "contract":
            hint = "add matching faults to the `chaos` section, or change its `when`"
        return Unjudged(check.label, check.severity, check.when, why, hint)

    def silent(self, cells: Sequence[Cell], played: Sequence[Played]) -> Unjudged:
        """The result for an invariant whose cells are all unknown."""
        check = self.check
        lacking_ = [
            one for one in played if lacking(check.when, one.invocation.scenario.profile, one.history)
        ]
        why = (
            f"the critical invariant `{check.label}` was never judged: "
            f"{'its only cell is' if len(cells) == 1 else f'all of its {len(cells)} cells are'} unknown, "
        )
        if len(lacking_) < len(played):
            why += "not only because faults did not fire"
            hint = "see the explanations of its cells in the report"
            return Unjudged(check.label, check.severity, check.when, why, hint, len(cells))
        last = lacking_[-1]
        reason = lacking(check.when, last.invocation.scenario.profile, last.history) or ""
        condition = "" if check.when == "always" else f"its `when: {check.when}` was never true: "
        why += f"because {condition}{reason}"
        return Unjudged(check.label, check.severity, check.when, why, self._make_fire(), len(cells))

    def _make_fire(self) -> str:
        """The hint that names the entries that could have fired."""
        side = _SIDE.get(self.check.when)
        ids = dict.fromkeys(
            f"{entry.id}` in `{scenario.name}"
            for scenario in self.fitting
            for entry in scenario.profile.entries
            if side is None or side in aims(entry)
        )
        fault = _FAULT.get(self.check.when, "fault")
        fix = f"make a {fault} fire: change `on` and `trigger` of {_named(ids)}"
        return f"{fix}, or use a prompt that makes the agent send such a request"


def _critical(phases: Iterable[Phase], command: str) -> list[_Critical]:
    """The critical invariants of a gate's phases; one that several phases have alike is one."""
    found: list[_Critical] = []
    for phase in phases if command in GATES else ():
        if phase.name not in JUDGING:
            continue
        for check in phase.checks:
            if check.severity != CRITICAL:
                continue
            one = next((known for known in found if known.check == check), None)
            if one is None:
                found.append(one := _Critical(check))
            one.phase = phase.name
            one.phases.add(phase.name)
            prompts = _judged_on(check, phase)
            for invocation in phase.plan:
                if invocation.prompt.id in prompts:
                    one.scenarios.setdefault((phase.name, invocation.scenario.name), invocation.scenario)
    return found


def _judged_on(check: Check, phase: Phase) -> set[str]:
    """The ids of the prompts that an invariant is judged on if its `when` applies."""
    shared = check in phase.invariants
    return {
        prompt.id for prompt in phase.prompts if (shared and not prompt.probe) or check in prompt.invariants
    }


def _seen(one: _Critical, outcomes: Sequence[Outcome]) -> tuple[list[Cell], list[Played]]:
    """The cells of an invariant in all phases that have it, and the invocations behind them."""
    cells: list[Cell] = []
    played: list[Played] = []
    for outcome in outcomes:
        if outcome.phase.name not in one.phases:
            continue
        mine = [cell for cell in outcome.matrix.cells if cell.invariant == one.check.label]
        where = {cell.invocation.id for cell in mine}
        cells += mine
        played += [each for each in outcome.played if each.invocation.id in where]
    return cells, played


def _named(names: Iterable[str]) -> str:
    every = list(names)
    more = f" and {len(every) - NAMED} more" if len(every) > NAMED else ""
    return ", ".join(f"`{name}`" for name in every[:NAMED]) + more
