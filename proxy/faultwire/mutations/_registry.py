"""Which mutations there are: the built-in ones, and those that installed packages bring."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

from faultwire.errors import ConfigError, FaultwireError, did_you_mean
from faultwire.mutations._api import Mutation
from faultwire.mutations._attacks import ATTACKS
from faultwire.mutations._network import NETWORK
from faultwire.mutations._packs import Packed
from faultwire.mutations.context_manipulation import ContextManipulation
from faultwire.mutations.custom import Custom
from faultwire.mutations.encoding_attacks import EncodingAttacks
from faultwire.mutations.length_extremes import LengthExtremes
from faultwire.mutations.noise import Noise
from faultwire.mutations.packs_domain import PACKS as DOMAINS
from faultwire.mutations.packs_locale import PACKS as LOCALES
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
PACKS: tuple[type[Packed], ...] = (*DOMAINS, *LOCALES)
"""Types that are made from packs: used where they are named, and nowhere else."""


@cache
def registry() -> Mapping[str, type[Mutation]]:
    """Every mutation by name, built-in ones and packs first. Raises FaultwireError on a bad package."""
    return collect((*BUILTIN, *PACKS), installed().select(group=GROUP))


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
    """The default weight of each type that is no pack."""
    return {name: registry()[name].weight for name in unpacked()}


def unpacked() -> tuple[str, ...]:
    """The types that are no packs: what is chosen from where nobody names any."""
    return tuple(name for name, mutation in registry().items() if not issubclass(mutation, Packed))


def _problem(mutation: type[Mutation]) -> str | None:
    missing = next((what for what in ("weight", "summary") if not hasattr(mutation, what)), None)
    return f"has no `{missing}`" if missing else None
