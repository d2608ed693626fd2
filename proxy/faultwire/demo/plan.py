"""What the demo runs, from `demo.yaml` beside this file."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pydantic import PositiveFloat, PositiveInt

from faultwire.checks._registry import make
from faultwire.contract.cells import Prompt, Scenario
from faultwire.errors import ConfigError, Location
from faultwire.profile.entry_model import Frozen
from faultwire.profile.find import builtin
from faultwire.profile.load import load
from faultwire.profile.yaml import read

if TYPE_CHECKING:
    from faultwire.checks._api import Check

HERE = Path(__file__).parent
AGENT = HERE / "agent.py"
SCRIPT = HERE / "script.yaml"
REQUIREMENTS = HERE / "requirements.txt"


class PromptSpec(Frozen):
    """A golden prompt, and what its answer must be."""

    id: str
    text: str
    expect: dict[str, Any]


class PlanSpec(Frozen):
    """The whole file."""

    scenarios: tuple[str, ...]
    repeat: PositiveInt
    timeout_s: PositiveFloat
    invariants: tuple[dict[str, Any], ...]
    prompts: tuple[PromptSpec, ...]


@dataclass(frozen=True, slots=True)
class Plan:
    """The file with its names looked up."""

    scenarios: tuple[Scenario, ...]
    prompts: tuple[Prompt, ...]
    invariants: tuple[Check, ...]
    expected: tuple[Check, ...]
    repeat: int
    timeout_s: float

    @property
    def checks(self) -> tuple[Check, ...]:
        """Every check once, by its label."""
        return tuple({check.label: check for check in (*self.invariants, *self.expected)}.values())


def load_plan(path: Path = HERE / "demo.yaml") -> Plan:
    """Read the plan. Raises ConfigError or ProfileError."""
    spec = PlanSpec.model_validate(read(path.read_bytes(), str(path), ConfigError).plain())
    where = Location(str(path))
    expected = [_check(prompt.expect, where) for prompt in spec.prompts]
    return Plan(
        scenarios=tuple(Scenario(name, load(builtin() / f"{name}.yaml")) for name in spec.scenarios),
        prompts=tuple(
            Prompt(p.id, p.text, (check,)) for p, check in zip(spec.prompts, expected, strict=True)
        ),
        invariants=tuple(_check(settings, where) for settings in spec.invariants),
        expected=tuple(expected),
        repeat=spec.repeat,
        timeout_s=spec.timeout_s,
    )


def _check(settings: dict[str, Any], where: Location) -> Check:
    return make(settings["type"], {k: v for k, v in settings.items() if k != "type"}, where=where)
