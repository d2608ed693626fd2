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


@dataclass(frozen=True, slots=True)
class Price:
    """Dollars for a million tokens, up to a size of the prompt (None: of any size)."""

    input: Decimal
    output: Decimal
    up_to: int | None = None

    def cost(self, usage: Usage) -> Decimal | None:
        """Dollars for an exchange; None where the prompt is longer than the price holds for."""
        if self.up_to is not None and usage.input_tokens > self.up_to:
            return None
        return (self.input * usage.input_tokens + self.output * usage.output_tokens) / _MILLION


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
        name = model.rpartition("/")[2].lower()
        if name in known:
            return known[name]
        fits = [known_as for known_as in known if _is_version(name, known_as)]
        return known[max(fits, key=len)] if fits else None

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
        document = yaml.safe_load(data)
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
    if not isinstance(entry, dict) or not {"input", "output"} <= entry.keys() <= {"input", "output", "up_to"}:
        raise _bad(
            path, f"price of `{name}`: found `{entry}`, expected `input`, `output` and perhaps `up_to`"
        )
    up_to = entry.get("up_to")
    if up_to is not None and (not isinstance(up_to, int) or isinstance(up_to, bool) or up_to < 1):
        raise _bad(path, f"price of `{name}`: found `up_to` of `{up_to}`, expected a number of tokens")
    return Price(_dollars(entry["input"], name, path), _dollars(entry["output"], name, path), up_to)


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
