"""What an exchange costs, from a dated table of prices that users can override.

A price that is not known is None, never 0: a free answer and an unknown one are not the same.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from decimal import Decimal
from functools import cache, lru_cache
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING

from faultwire.wire.transcript.price_file import contents, parse

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from faultwire.events import Usage
    from faultwire.wire.transcript.price_file import Table

BUILTIN = Path(__file__).with_name("prices.yaml")
_MILLION = Decimal(1_000_000)
UNDATED = "unknown"
"""The day of a table without one."""


@dataclass(frozen=True, slots=True)
class Price:
    """Dollars for a million tokens, up to a size of the prompt (None: of any size); `as_of` is the day of the
    table that they are from."""

    input: Decimal
    output: Decimal
    up_to: int | None = None
    cache_read: Decimal | None = None
    cache_write: Decimal | None = None
    cache_write_1h: Decimal | None = None
    audio_input: Decimal | None = None
    audio_output: Decimal | None = None
    as_of: str = UNDATED

    def cost(self, usage: Usage) -> Decimal | None:
        """Dollars for an exchange; None where the prompt is longer than the price holds for, where a part of
        it has a price that is not known, and where parts overlap in a way that the counts do not tell."""
        if self.up_to is not None and usage.input_tokens > self.up_to:
            return None
        if usage.cache_read_tokens and usage.audio_input_tokens:
            return None  # how much of the audio was cached is not counted
        short_writes = usage.cache_write_tokens - usage.long_cache_write_tokens
        parts = (
            (usage.cache_read_tokens, self.cache_read),
            (short_writes, self.cache_write),
            (usage.long_cache_write_tokens, self.cache_write_1h),
            (usage.audio_input_tokens, self.audio_input),
        )
        plain = usage.input_tokens - sum(count for count, _ in parts)
        written = usage.output_tokens - usage.audio_output_tokens
        every = (
            *parts,
            (usage.audio_output_tokens, self.audio_output),
            (plain, self.input),
            (written, self.output),
        )
        if any(count < 0 or (count and price is None) for count, price in every):
            return None
        return sum((price * count for count, price in every if price is not None), Decimal(0)) / _MILLION


@dataclass(frozen=True, slots=True)
class Prices:
    """A table of prices by provider and model; `as_of` is the day that it was read on."""

    as_of: str
    models: Mapping[str, Mapping[str, Price]]

    def price(self, provider: str, model: str) -> Price | None:
        """The price of the longest name that the model's begins with, None where there is none.

        A name counts only where a version follows it: `gpt-4o` covers `gpt-4o-2024-08-06`, and not
        `gpt-4o-audio`.
        """
        known = self.models.get(provider, {})
        name = model.lower()
        vendor, _, last = name.rpartition("/")
        # `openai/gpt-4o` at OpenAI is its own; a vendor's name before it means somebody else's model.
        own = vendor.rpartition("/")[2] in ("models", provider)
        for wanted in (name, last) if own else (name,):
            if wanted in known:
                return known[wanted]
            fits = [known_as for known_as in known if _is_version(wanted, known_as)]
            if fits:
                return known[max(fits, key=len)]
        return None

    def cost(self, provider: str | None, model: str, usage: Usage | None) -> Decimal | None:
        """Dollars for an exchange, None where anything about it is unknown."""
        found = self.price(provider, model) if provider and usage is not None else None
        return found.cost(usage) if found is not None and usage is not None else None

    def over(self, other: Prices) -> Prices:
        """These prices, and the other table's where this one says nothing."""
        merged = {name: dict(models) for name, models in other.models.items()}
        for provider, models in self.models.items():
            merged.setdefault(provider, {}).update(models)
        return Prices(self.as_of, _frozen(merged))


def _is_version(name: str, known_as: str) -> bool:
    rest = name.removeprefix(known_as)
    return rest != name and rest[:1] in "-@:" and (rest[1:] == "latest" or rest[1:2].isdigit())


@cache
def builtin() -> Prices:
    """The prices that come with faultwire."""
    return load(BUILTIN)


_chosen: list[Path] = []


def choose(path: Path | None) -> None:
    """Lay a file over the installed and the built-in prices, for this whole process; None takes it back.
    Raises ConfigError."""
    if path is not None:
        load(path)
    _chosen[:] = [] if path is None else [path]
    _layered.cache_clear()


def current() -> Prices:
    """The prices that hold in this process: those of the chosen file, of the installed one, the built-in
    ones, in this order. Raises ConfigError where a file cannot be read."""
    return _layered(tuple(layers()))


def layers() -> list[Path]:
    """The files that `current` reads, the one that takes precedence first."""
    return [*_chosen, *(path for path in (installed(),) if path is not None), BUILTIN]


def place(environ: Mapping[str, str] = os.environ) -> Path | None:
    """Where the user's own table is: `faultwire/prices.yaml` in `XDG_CONFIG_HOME`, else in `~/.config` (XDG
    Base Directory Specification, which has relative folders ignored); None for a user without a home."""
    base = environ.get("XDG_CONFIG_HOME") or ""
    if not os.path.isabs(base):
        base = os.path.join(environ.get("HOME") or "", ".config")
    return Path(base, "faultwire", "prices.yaml") if os.path.isabs(base) else None


def installed() -> Path | None:
    """The user's own table, None where there is none."""
    path = place()
    return path if path is not None and os.path.lexists(path) else None


def forget() -> None:
    """Read the files again, as one of them has changed."""
    _layered.cache_clear()


@lru_cache(maxsize=4)
def _layered(paths: tuple[Path, ...]) -> Prices:
    *upper, lowest = paths
    table = builtin() if lowest == BUILTIN else load(lowest)
    for path in reversed(upper):
        table = load(path, over=table)
    return table


def load(path: Path, *, over: Prices | None = None) -> Prices:
    """The prices in a file, laid over others. Raises ConfigError with the file and the line."""
    found = made(parse(contents(path), path))
    return found.over(over) if over is not None else found


def made(table: Table) -> Prices:
    """The prices of a table that was read."""
    day = table.as_of.isoformat() if table.as_of is not None else UNDATED
    models = {
        provider: {name: Price(**row.dollars, up_to=row.up_to, as_of=day) for name, row in listed.items()}
        for provider, listed in table.models.items()
    }
    return Prices(day, _frozen(models))


def dated(days: Iterable[str]) -> str:
    """The words that name the tables of a cost: `prices of 2026-01-31`, or of several days."""
    every = sorted({"an unknown date" if day == UNDATED else day for day in days})
    return f"prices of {' and '.join(every)}"


def _frozen(models: Mapping[str, dict[str, Price]]) -> Mapping[str, Mapping[str, Price]]:
    return MappingProxyType({name: MappingProxyType(listed) for name, listed in models.items()})
