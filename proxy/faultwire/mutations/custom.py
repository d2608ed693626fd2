"""`custom`: templates of the user."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from faultwire.errors import ConfigError
from faultwire.mutations._api import Draft, Mutation

if TYPE_CHECKING:
    from collections.abc import Mapping

    from faultwire.dice import FaultDice

PLACE = "{prompt}"


@dataclass(frozen=True, slots=True)
class Template:
    """A template with its name."""

    name: str
    text: str


class Custom(Mutation):
    """The prompt in a template of the user; nothing but `{prompt}` is special in it."""

    name = "custom"
    weight = 1.0
    summary = "templates of your own"

    def __init__(self, templates: Mapping[str, str] | None = None) -> None:
        for name, text in (templates or {}).items():
            if PLACE not in text:
                raise ConfigError(
                    f"found no `{PLACE}` in the custom template `{name}`, expected where the prompt goes",
                    code="config.invalid_value",
                )
        self._templates = tuple(Template(name, text) for name, text in (templates or {}).items())

    def cannot(self, prompt: str) -> str | None:
        """Without templates there is nothing to do."""
        return super().cannot(prompt) or (None if self._templates else "there is no custom template")

    def draft(self, prompt: str, dice: FaultDice) -> Draft | None:
        """The prompt in one of them."""
        chosen = dice.choice(self._templates, "template")
        return Draft(chosen.text.replace(PLACE, prompt), f"template {chosen.name}")
