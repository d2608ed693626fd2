"""The phases of a run, made from a configuration: what is played, in which scenarios, judged by what."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Literal, Protocol

from faultwire.agents._api import Asked
from faultwire.checks._api import Check
from faultwire.contract.cells import Invocation, Prompt, Scenario
from faultwire.contract.matrix import distinct, fits
from faultwire.errors import ConfigError
from faultwire.profile.model import Profile
from faultwire.runner.cells import planned

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from faultwire.config.model import Config
    from faultwire.mutations._api import Mutant
    from faultwire.mutations.engine import Mutated

PhaseName = Literal["mutation", "chaos", "contract", "replay"]
CALM = Scenario("calm", Profile(name="calm"))
"""Nothing is broken: what an agent says here is its baseline."""


class Mutator(Protocol):
    """Makes mutants of a text."""

    def __call__(self, text: str) -> Mutated:
        """So many and of such types as the configuration says."""


@dataclass(frozen=True, slots=True)
class Phase:
    """One part of a run. `plan` is its first round; `mutants` tell by prompt id what made a prompt, and
    `notes` what could not be had."""

    name: PhaseName
    scenarios: tuple[Scenario, ...]
    prompts: tuple[Prompt, ...]
    invariants: tuple[Check, ...]
    plan: tuple[Invocation, ...]
    mutants: Mapping[str, Mutant] = field(default_factory=dict)
    notes: tuple[str, ...] = ()

    @property
    def checks(self) -> tuple[Check, ...]:
        """Every check that judges something here, once by its label."""
        own = [check for prompt in self.prompts for check in prompt.invariants if isinstance(check, Check)]
        return tuple({check.label: check for check in (*self.invariants, *own)}.values())

    def ask(self, invocation: Invocation, *, network: bool) -> Asked:
        """What an invocation asks. An agent that is reached by `network` gets the original text in a
        changed request where a mutation changes requests."""
        prompt = invocation.prompt
        mutant = self.mutants.get(prompt.id)
        if mutant is None or mutant.request is None or not network:
            return Asked(prompt.asked, invocation.id)
        return Asked((*prompt.asked[:-1], mutant.original), invocation.id, mutant.request)


def judged_by(config: Config) -> tuple[Check, ...]:
    """The invariants of golden prompts and mutants: the file's own, else those of its contract."""
    if config.invariants:
        return config.invariants
    return config.contract.invariants if config.contract is not None else ()


def mutation(config: Config, mutate: Mutator, *, chaos: Sequence[Scenario] = ()) -> Phase:
    """Golden prompts calm, as the baseline, and their mutants: calm, or in the scenarios of `chaos`."""
    prompts, mutants, notes = _mutated(config.prompts, mutate)
    made = [prompt for prompt in prompts if prompt.golden]
    shared, probes = _probed(judged_by(config))
    scenarios = (CALM, *chaos)
    distinct(scenarios, prompts, shared)
    repeat = config.advanced.repeat
    plan = (
        *planned((CALM,), config.prompts, repeat=repeat, phase="mutation"),
        *planned(tuple(chaos) or (CALM,), (*made, *probes), repeat=repeat, phase="mutation"),
    )
    notes = (*notes, *_unjudged("mutation", plan, shared, _of_contract(config)))
    return Phase("mutation", scenarios, (*prompts, *probes), shared, plan, mutants, notes)


def chaos(config: Config, scenarios: Sequence[Scenario]) -> Phase:
    """Golden prompts, calm as the baseline and in each scenario of chaos."""
    shared, probes = _probed(judged_by(config))
    every, prompts = (CALM, *scenarios), (*config.prompts, *probes)
    distinct(every, prompts, shared)
    plan = planned(every, prompts, repeat=config.advanced.repeat, phase="chaos")
    notes = _unjudged("chaos", plan, shared, _of_contract(config))
    return Phase("chaos", every, prompts, shared, plan, notes=notes)


def contract(config: Config) -> Phase:
    """Every scenario of the contract with every prompt and probe. Raises ConfigError without a contract."""
    section = config.contract
    if section is None:
        raise ConfigError(
            f"found no `contract` in `{config.path}`, expected one",
            code="config.no_contract",
            hint="name its `invariants` and the scenarios of its `chaos_matrix`",
        )
    shared, probes = _probed(section.invariants)
    prompts = (*config.prompts, *probes)
    distinct(section.scenarios, prompts, shared)
    plan = planned(section.scenarios, prompts, repeat=config.advanced.repeat, phase="contract")
    notes = (*_unjudged("contract", plan, shared), *_uncut(plan, shared))
    return Phase("contract", section.scenarios, prompts, shared, plan, notes=notes)


def chaos_scenarios(config: Config, profiles: Sequence[Profile]) -> tuple[Scenario, ...]:
    """What chaos means here: the named profiles, else the file's `chaos` section. Empty without both."""
    if profiles:
        return tuple(Scenario(profile.name, profile) for profile in profiles)
    if config.chaos is None or not config.chaos.entries:
        return ()
    return (Scenario("chaos", config.chaos),)


def _of_contract(config: Config) -> tuple[Scenario, ...]:
    """The scenarios of the contract whose invariants other phases borrow; none where they have their own."""
    return () if config.invariants or config.contract is None else config.contract.scenarios


def _unjudged(
    phase: PhaseName, plan: Sequence[Invocation], shared: Sequence[Check], elsewhere: Sequence[Scenario] = ()
) -> tuple[str, ...]:
    """A note on every invariant that has not a single cell: no scenario here is one that it is about, nor one
    of those `elsewhere`, in which it is judged. Of critical ones in a contract more than a note is made
    (`unjudged`)."""
    found: dict[str, tuple[str, bool]] = {}
    for invocation in plan:
        prompt = invocation.prompt
        for check in (*(() if prompt.probe else shared), *prompt.invariants):
            if phase == "contract" and check.severity == "critical":
                continue
            if phase != "contract" and check.scenarios:
                continue  # it names columns of the contract
            here = any(fits(check, one) for one in (invocation.scenario, *elsewhere))
            found[check.label] = (check.when, here or found.get(check.label, ("", False))[1])
    return tuple(
        f"{phase}: the invariant `{label}` is never judged: no scenario fits its `when: {when}`"
        for label, (when, judged) in found.items()
        if not judged
    )


def _uncut(plan: Sequence[Invocation], shared: Sequence[Check]) -> tuple[str, ...]:
    """A note on every invariant about answers that were cut, where the contract cuts none."""
    from faultwire.runner.never_cut import never_cut

    judged = (
        (check, invocation)
        for invocation in plan
        for check in (*(() if invocation.prompt.probe else shared), *invocation.prompt.invariants)
        if isinstance(check, Check)
    )
    return tuple(
        f"contract: the invariant `{label}` judges answers that were cut, and no scenario has a fault that "
        "cuts one: unless a server does, its cells are unknown; `early_end`, `cut_stream` and "
        "`truncate_response` cut answers"
        for label in never_cut(judged)
    )


def _mutated(
    golden: Iterable[Prompt], mutate: Mutator
) -> tuple[tuple[Prompt, ...], dict[str, Mutant], tuple[str, ...]]:
    prompts: list[Prompt] = []
    mutants: dict[str, Mutant] = {}
    notes: list[str] = []
    for prompt in golden:
        made = mutate(prompt.text)
        prompts.append(prompt)
        notes += [f"`{prompt.id}`: {note}" for note in made.notes]
        for number, mutant in enumerate(made.mutants, 1):
            name = f"{prompt.id}-m{number}"
            mutants[name] = mutant
            prompts.append(
                replace(
                    prompt,
                    id=name,
                    text=mutant.text,
                    turns=(*prompt.turns[:-1], mutant.text) if prompt.turns else (),
                    weight=mutant.weight,
                    origin=mutant.type,
                    golden=prompt.id,
                )
            )
    return tuple(prompts), mutants, tuple(notes)


def _probed(invariants: Sequence[Check]) -> tuple[tuple[Check, ...], tuple[Prompt, ...]]:
    """The invariants of all prompts, and a prompt for each probe with those that are judged on it."""
    probes: dict[str, list[Check]] = {}
    for check in invariants:
        for text in check.probes:
            probes.setdefault(text, []).append(check)
    shared = tuple(check for check in invariants if not check.probes)
    return shared, tuple(
        Prompt(f"probe{number}", text, tuple(checks), probe=True)
        for number, (text, checks) in enumerate(probes.items(), 1)
    )
