"""Which mutations there are: the built-in ones, and those that installed packages bring."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

from faultwire.errors import ConfigError, FaultwireError, did_you_mean
from faultwire.mutations._api import Mutation
from faultwire.mutations._attacks import ATTACKS
from faultwire.mutations._network import NETWORK
from faultwire.mutations.context_manipulation import ContextManipulation
from faultwire.mutations.custom import Custom
from faultwire.mutations.encoding_attacks import EncodingAttacks
from faultwire.mutations.length_extremes import LengthExtremes
from faultwire.mutations.noise import Noise
from faultwire.mutations.paraphrase import Paraphrase
from faultwire.plugins import Registry, installed

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from importlib.metadata import EntryPoint

GROUP = "faultwire.mutations"

BUILTIN: tuple[type[Mutation], ...] = (
    Paraphrase,
    Noise,
    EncodingAttacks,
    ContextManipulation,
    LengthExtremes,
    Custom,
    *ATTACKS,
    *NETWORK,
)


@cache
def registry() -> Mapping[str, type[Mutation]]:
    """Every mutation by name, built-in ones first. Raises FaultwireError on a bad package."""
    return collect(BUILTIN, installed().select(group=GROUP))


def collect(builtin: Iterable[type[Mutation]], plugins: Iterable[EntryPoint]) -> dict[str, type[Mutation]]:
    """The mutations of both, by name. Raises FaultwireError."""
    return Registry("mutation", Mutation, FaultwireError, _problem).collect(builtin, plugins)


def find(name: str) -> type[Mutation]:
    """The mutation of that name. Raises ConfigError with the nearest valid one."""
    known = registry()
    if name not in known:
        raise ConfigError(
            f"found mutation `{name}`, expected a known one",
            code="config.unknown_mutation",
            hint=did_you_mean(name, known),
        )
    return known[name]


def weights() -> dict[str, float]:
    """The default weight of each type."""
    return {name: mutation.weight for name, mutation in registry().items()}


def _problem(mutation: type[Mutation]) -> str | None:
    missing = next((what for what in ("weight", "summary") if not hasattr(mutation, what)), None)
    return f"has no `{missing}`" if missing else None
