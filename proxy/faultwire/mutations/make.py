"""Mutants of a prompt by the engine that a configuration chooses."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from faultwire.errors import ConfigError
from faultwire.mutations.engine import Mutated, mutate, mutate_by

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from faultwire.mutations._lines import Form
    from faultwire.mutations.clients import ModelChoice

CACHE = "cache/mutations"
"""Where answers of models are kept, below faultwire's folder."""


class MutationChoice(Protocol):
    """What a configuration says of mutations."""

    @property
    def count(self) -> int:
        """How many of each prompt."""

    @property
    def types(self) -> Sequence[str]:
        """Their types."""

    @property
    def weights(self) -> Mapping[str, float]:
        """Weights that differ from the defaults."""

    @property
    def custom_templates(self) -> Mapping[str, str]:
        """Templates of the type `custom`."""

    @property
    def engine(self) -> str:
        """`built-in` or `model`."""


def mutants(
    prompt: str,
    settings: MutationChoice,
    *,
    seed: int,
    model: ModelChoice | None = None,
    cache: Path | None = None,
    fixed: bool = True,
    form: Form | None = None,
) -> Mutated:
    """The mutants of one prompt, as many as the settings say unless `notes` says why not.

    The model engine asks at temperature 0 and with the seed where the API has one; `fixed` False asks at
    the configured temperature instead. With a `form` (what an agent's request needs of a prompt) only values
    in the prompt's lines are changed. Answers are kept below `cache` (None keeps none). Raises ConfigError
    for settings that cannot be, and FaultwireError where the model fails or declines: there is no silent
    way back to the built-in engine.
    """
    if settings.engine != "model":
        return mutate(
            prompt,
            settings.types,
            settings.count,
            seed=seed,
            weights=settings.weights,
            templates=settings.custom_templates,
            form=form,
        )
    if model is None:
        raise ConfigError(
            "found `mutations.engine: model` without a section `model`, expected the model that writes them",
            code="config.missing_key",
            hint="model: {provider: ollama, name: 'qwen3:8b'}",
        )
    from faultwire.mutations._kept import Kept
    from faultwire.mutations.model import ModelMaker, Writer, writes

    writer = Writer(model, Kept(cache), seed if fixed else None)
    return mutate_by(
        prompt,
        settings.types,
        settings.count,
        seed=seed,
        weights=settings.weights,
        templates=settings.custom_templates,
        form=form,
        maker=lambda mutation, text: (
            ModelMaker(text, mutation, writer, settings.weights) if writes(mutation.name) else None
        ),
    )
