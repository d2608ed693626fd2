"""A cell of a campaign: one invocation of the agent as a task that any worker can do, known by its content.

The id of a cell is a hash of all that decides what it does, so that a result can be told to be the result of
exactly this, whoever sends it and however often.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from faultwire import _core
from faultwire.contract.cells import Invocation, Prompt, Scenario
from faultwire.errors import FaultwireError
from faultwire.mutations._request import RequestChange
from faultwire.profile.load import dump, from_dump

if TYPE_CHECKING:
    from collections.abc import Mapping

    from faultwire.runner.phases import Phase

LOCAL = ("path", "digest")
"""What a dumped profile says of where it was loaded from, and not of what it does."""


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What must be the same on every worker. `version` is faultwire's; the others are SHA-256 digests in
    hex: of the configuration file, of the agent's settings and files, of the profiles that the file names."""

    version: str
    config: str
    agent: str
    profiles: str

    def differs(self, other: Surroundings) -> str | None:
        """What `other` has differently, in words; None where all agrees."""
        for name, word in _WORDS.items():
            ours, theirs = getattr(self, name), getattr(other, name)
            if ours != theirs:
                return f"{word} `{theirs[:16]}`, expected `{ours[:16]}`"
        return None


_WORDS = {
    "version": "faultwire",
    "config": "the configuration",
    "agent": "the agent",
    "profiles": "the profiles",
}


@dataclass(frozen=True, slots=True)
class CellTask:
    """One invocation: what is asked, under which faults, with which seed. `plain` is asked by agents that are
    not reached by HTTP, `changed` with the `request` by those that are."""

    phase: str
    scenario: str
    profile: Mapping[str, Any]
    prompt: str
    plain: tuple[str, ...]
    changed: tuple[str, ...]
    request: Mapping[str, Any] | None
    repeat: int
    seed: int

    @property
    def invocation(self) -> Invocation:
        """The invocation as a worker plays it; it has no invariants, which are judged elsewhere."""
        text, turns = self.plain[-1], self.plain if len(self.plain) > 1 else ()
        prompt = Prompt(self.prompt, text, turns=turns)
        return Invocation(
            Scenario(self.scenario, from_dump(dict(self.profile))), prompt, self.repeat, self.phase
        )

    @property
    def change(self) -> RequestChange | None:
        """How the request is changed where the agent is reached by HTTP."""
        if self.request is None:
            return None
        pairs = {name: tuple(map(tuple, self.request[name])) for name in ("headers", "query")}
        return RequestChange(**{**self.request, **pairs})

    def id(self, surroundings: Surroundings) -> str:
        """The hash of all that decides what this cell does, 64 hex digits."""
        faults = {name: value for name, value in self.profile.items() if name not in LOCAL}
        return _hash({**self.as_json(), "profile": faults, "with": asdict(surroundings)})

    def as_json(self) -> dict[str, Any]:
        """As plain values."""
        return asdict(self)

    @classmethod
    def of(cls, phase: Phase, invocation: Invocation, seed: int) -> CellTask:
        """The cell of an invocation of a phase."""
        changed = phase.ask(invocation, network=True)
        return cls(
            phase=invocation.phase,
            scenario=invocation.scenario.name,
            profile=dump(invocation.scenario.profile),
            prompt=invocation.prompt.id,
            plain=invocation.prompt.asked,
            changed=changed.turns,
            request=None if changed.request is None else asdict(changed.request),
            repeat=invocation.repeat,
            seed=seed,
        )

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> CellTask:
        """Raises FaultwireError where it is no cell."""
        try:
            turns = {name: tuple(map(str, value[name])) for name in ("plain", "changed")}
            return cls(**{**value, **turns})
        except (KeyError, TypeError) as error:
            raise FaultwireError(f"found a cell of another shape: {error}", code="campaign.cell") from error


def campaign_id(command: str, cells: list[str]) -> str:
    """What a campaign is known by: the command and the cells that are planned at first, 16 hex digits."""
    return _hash([command, sorted(cells)])[:16]


def _hash(value: object) -> str:
    return _core.sha256_hex(json.dumps(value, sort_keys=True).encode("utf-8", "surrogatepass"))
