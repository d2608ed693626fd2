"""A case: what stands in place of which call or prompt, and the steps that made it. Frozen, as a profile."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import yaml

from faultwire._core import sha256_hex
from faultwire.profile.across import joined
from faultwire.profile.load import parse

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from faultwire.profile.model import Profile

TargetKind = Literal["prompt", "result", "message", "answer"]
ENTRY = "fuzz"


class Target(NamedTuple):
    """What is generated: a prompt (by its number), the result of a tool's call, the messages that answer a
    request of MCP (`name` is its method, or `tools/call NAME`), or the answer to a call of a model (`name` is
    `model`). `call` is the ordinal of the call, from 1."""

    kind: TargetKind
    name: str
    call: int = 1

    @property
    def text(self) -> str:
        """In words."""
        if self.kind == "prompt":
            return f"prompt {self.name}"
        if self.kind == "answer":
            return f"answer of the {self.name}, call {self.call}"
        what = f"result of `{self.name}`" if self.kind == "result" else f"answer to `{self.name}`"
        return f"{what}, call {self.call}"


class Step(NamedTuple):
    """One step: the change, the number of its throw, and what it did in words."""

    change: str
    throw: int
    how: str


@dataclass(frozen=True, slots=True)
class Part:
    """A generated text for a target. `base` names what the steps began with."""

    target: Target
    base: str
    text: str
    steps: tuple[Step, ...] = ()

    def entry(self, number: int) -> dict[str, Any] | None:
        """The profile's entry that puts it on the wire; None for a prompt, which is no traffic."""
        target = self.target
        about = {"trigger": {"calls": [target.call]}, "id": f"{ENTRY}-{number}"}
        if target.kind == "result":
            settings = {"responses": [{"response": self.text}], "none_left": "pass", "optional": True}
            return {"recorded_response": settings, "on": {"tool": target.name}, **about}
        if target.kind == "answer":
            return {"model_answer": {"body": self.text}, "on": {"kind": "llm"}, **about}
        if target.kind == "message":
            method, _, tool = target.name.partition(" ")
            message = {"methods": method, "messages": self.text.split("\n")}
            return {"mcp_message": message, **({"on": {"tool": tool}} if tool else {}), **about}
        return None


@dataclass(frozen=True, slots=True)
class Case:
    """What one run is given, beside the user's own profile."""

    parts: tuple[Part, ...] = ()

    @property
    def id(self) -> str:
        """Twelve hex digits, the same for the same texts at the same targets."""
        about = json.dumps(sorted([*one.target, one.text] for one in self.parts))
        return sha256_hex(about.encode())[:12]

    @property
    def prompt(self) -> str | None:
        """The generated prompt; None where the user's is taken as it is."""
        return next((one.text for one in self.parts if one.target.kind == "prompt"), None)

    def part(self, target: Target) -> Part | None:
        """The part for a target."""
        return next((one for one in self.parts if one.target == target), None)

    def with_part(self, part: Part) -> Case:
        """With this part in place of the one for its target."""
        return Case((*(one for one in self.parts if one.target != part.target), part))

    def without(self, target: Target) -> Case:
        """Without the part for a target."""
        return Case(tuple(one for one in self.parts if one.target != target))

    @property
    def as_yaml(self) -> str:
        """The profile, as a file that `--profile` takes."""
        entries = [one.entry(at) for at, one in enumerate(self.parts, 1)]
        about: dict[str, Any] = {"name": ENTRY, "faults": [one for one in entries if one is not None]}
        return yaml.safe_dump(about, allow_unicode=True, sort_keys=False, width=1 << 30)

    def profile(self, base: Profile) -> Profile:
        """The user's profile with the entries of this case."""
        return joined([base, parse(self.as_yaml, ENTRY)]) if self.wire else base

    @property
    def wire(self) -> bool:
        """Is there a part that is traffic?"""
        return any(one.target.kind != "prompt" for one in self.parts)

    def as_json(self) -> list[dict[str, Any]]:
        """For a file."""
        return [
            {
                "target": one.target._asdict(),
                "base": one.base,
                "text": one.text,
                "steps": [step._asdict() for step in one.steps],
            }
            for one in self.parts
        ]


def read(parts: Sequence[Mapping[str, Any]]) -> Case:
    """A case from a file. Raises ValueError, KeyError, TypeError."""
    return Case(
        tuple(
            Part(
                Target(**one["target"]),
                str(one["base"]),
                str(one["text"]),
                tuple(Step(**step) for step in one["steps"]),
            )
            for one in parts
        )
    )
