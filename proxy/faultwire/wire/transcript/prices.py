"""What an exchange costs, from a dated table of prices that users can override.

A price that is not known is None, never 0: a free answer and an unknown one are not the same.
"""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from faultwire.errors import ConfigError, Location

if TYPE_CHECKING:
    from collections.abc import Mapping

    from faultwire.events import Usage

BUILTIN = Path(__file__).with_name("prices.yaml")
_MILLION = Decimal(1_000_000)
_MOST = 1 << 20
_PARTS = frozenset(("cache_read", "cache_write", "cache_write_1h", "audio_input", "audio_output"))
_MEMBERS = _PARTS | {"input", "output", "up_to"}


@dataclass(frozen=True, slots=True)
class Price:
    """Dollars for a million tokens, up to a size of the prompt (None: of any size)."""

    input: Decimal
    output: Decimal
    up_to: int | None = None
    cache_read: Decimal | None = None
    cache_write: Decimal | None = None
    cache_write_1h: Decimal | None = None
    audio_input: Decimal | None = None
    audio_output: Decimal | None = None

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


_chosen: list[Prices] = []


def choose(path: Path | None) -> None:
    """Lay a file of the user's own over the built-in prices, for this whole process; None takes it back.
    Raises ConfigError."""
    _chosen[:] = [] if path is None else [load(path, over=builtin())]


def current() -> Prices:
    """The prices that hold in this process."""
    return _chosen[0] if _chosen else builtin()


def load(path: Path, *, over: Prices | None = None) -> Prices:
    """The prices in a file, laid over others. Raises ConfigError."""
    try:
        with path.open("rb") as file:
            data = file.read(_MOST + 1)
    except OSError as error:
        raise _bad(path, f"found no readable file ({(error.strerror or 'unknown error').lower()})") from None
    if len(data) > _MOST:
        raise _bad(path, f"found more than {_MOST} bytes")
    found = _parsed(data, path)
    return found.over(over) if over is not None else found


def _parsed(data: bytes, path: Path) -> Prices:
    import yaml

    try:
        # The built-in table has many rows: libyaml reads it ten times as fast, where it is there.
        document = yaml.load(data, getattr(yaml, "CSafeLoader", yaml.SafeLoader))  # a safe loader
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        raise _bad(path, f"found no YAML: {str(error).splitlines()[0]}") from None
    if not isinstance(document, dict) or not isinstance(document.get("models"), dict):
        raise _bad(path, "found no `models`")
    if document.get("currency", "USD") != "USD":
        raise _bad(path, f"found currency `{document['currency']}`, expected `USD`")
    models = {
        str(provider): {
            str(name).lower(): _price(entry, f"{provider}.{name}", path) for name, entry in listed.items()
        }
        for provider, listed in document["models"].items()
        if isinstance(listed, dict)
    }
    return Prices(str(document.get("as_of", "unknown")), _frozen(models))


def _frozen(models: Mapping[str, dict[str, Price]]) -> Mapping[str, Mapping[str, Price]]:
    return MappingProxyType({name: MappingProxyType(listed) for name, listed in models.items()})


def _price(entry: Any, name: str, path: Path) -> Price:
    if not isinstance(entry, dict) or not {"input", "output"} <= entry.keys() <= _MEMBERS:
        expected = ", ".join(f"`{one}`" for one in sorted(_MEMBERS - {"input", "output"}))
        raise _bad(
            path, f"price of `{name}`: found `{entry}`, expected `input`, `output` and perhaps {expected}"
        )
    up_to = entry.get("up_to")
    if up_to is not None and (not isinstance(up_to, int) or isinstance(up_to, bool) or up_to < 1):
        raise _bad(path, f"price of `{name}`: found `up_to` of `{up_to}`, expected a number of tokens")
    parts = {one: _dollars(entry[one], name, path) for one in _PARTS & entry.keys()}
    return Price(_dollars(entry["input"], name, path), _dollars(entry["output"], name, path), up_to, **parts)


def _dollars(value: Any, name: str, path: Path) -> Decimal:
    try:
        amount = Decimal(str(value)) if not isinstance(value, bool) else Decimal("NaN")
    except InvalidOperation:
        amount = Decimal("NaN")
    if not amount.is_finite() or amount < 0:
        raise _bad(path, f"price of `{name}`: found `{value}`, expected dollars for a million tokens")
    return amount


def _bad(path: Path, what: str) -> ConfigError:
    return ConfigError(
        f"{what}, expected a table of prices" if ", expected" not in what else what,
        code="config.prices",
        where=Location(str(path)),
        hint="see `prices.yaml` in the package for the shape",
    )
