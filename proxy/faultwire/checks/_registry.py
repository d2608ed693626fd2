"""Which checks there are: the built-in ones, and those that installed packages bring."""

from __future__ import annotations

from functools import cache
from importlib.metadata import entry_points
from typing import TYPE_CHECKING, Any

from pydantic import ValidationError

from faultwire.checks._api import SECTIONS, Check
from faultwire.checks.completes import Completes
from faultwire.checks.contains import Contains
from faultwire.checks.no_retry_storm import NoRetryStorm
from faultwire.checks.output_not_empty import OutputNotEmpty
from faultwire.checks.regex import Regex
from faultwire.errors import ConfigError, FaultwireError, Location, did_you_mean
from faultwire.faults._describe import sections

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from importlib.metadata import EntryPoint

GROUP = "faultwire.checks"

BUILTIN: tuple[type[Check], ...] = (Completes, OutputNotEmpty, Contains, Regex, NoRetryStorm)


@cache
def registry() -> Mapping[str, type[Check]]:
    """Every check by name, built-in ones first. Raises FaultwireError on a bad package."""
    return collect(BUILTIN, entry_points(group=GROUP))


def find(name: str, *, where: Location | None = None) -> type[Check]:
    """The check of that name. Raises ConfigError with the nearest valid one."""
    known = registry()
    if name not in known:
        raise ConfigError(
            f"found check `{name}`, expected a known one",
            code="config.unknown_check",
            hint=did_you_mean(name, known),
            where=where,
        )
    return known[name]


def collect(builtin: Iterable[type[Check]], plugins: Iterable[EntryPoint]) -> dict[str, type[Check]]:
    """The checks of both, by name. Raises FaultwireError."""
    found: dict[str, type[Check]] = {}
    for check in builtin:
        if check.name in found:
            raise FaultwireError(f"found two checks named `{check.name}`, expected one", code="check.plugin")
        found[check.name] = check
    for entry in sorted(plugins, key=lambda entry: (entry.name, entry.value)):
        if entry.name in found:
            raise _bad(entry, f"adds check `{entry.name}`, which there is already")
        found[entry.name] = _loaded(entry)
    return found


def make(name: str, settings: Mapping[str, Any], *, where: Location | None = None) -> Check:
    """A check of this name with these settings. Raises ConfigError with the nearest valid name."""
    kind = find(name, where=where)
    try:
        return kind.model_validate(dict(settings))
    except ValidationError as error:
        raise _invalid(kind, error, where) from None


def _loaded(entry: EntryPoint) -> type[Check]:
    try:
        check = entry.load()
    except Exception as error:  # whatever a foreign module raises is told as its failure
        raise _bad(entry, f"failed to load: {type(error).__name__}: {error}") from error
    if not (isinstance(check, type) and issubclass(check, Check)):
        raise _bad(entry, "is no subclass of `Check`")
    if getattr(check, "name", None) != entry.name:
        raise _bad(entry, f"is called `{getattr(check, 'name', None)}`")
    missing = [title for title in SECTIONS if title not in sections(check, SECTIONS)]
    if missing:
        raise _bad(entry, f"has no section `{missing[0]}` in its docstring")
    return check


def _bad(entry: EntryPoint, why: str) -> FaultwireError:
    package = entry.dist.name if entry.dist else "a package"
    return FaultwireError(
        f"check `{entry.name}` of `{package}` ({entry.value}) {why}",
        code="check.plugin",
        hint=f"mend or uninstall `{package}`",
    )


def _invalid(kind: type[Check], error: ValidationError, where: Location | None) -> ConfigError:
    first = error.errors(include_url=False, include_context=False, include_input=False)[0]
    key = ".".join(str(part) for part in first["loc"]) or kind.name
    if first["type"] == "extra_forbidden":
        hint = did_you_mean(key, kind.model_fields)
        message = f"found the key `{key}` in the check `{kind.name}`, expected one that it has"
        return ConfigError(message, code="config.unknown_key", hint=hint, where=where)
    if first["type"] == "missing":
        message = f"found no `{key}` in the check `{kind.name}`, expected one"
        return ConfigError(message, code="config.missing_key", where=where)
    reason = first["msg"].removeprefix("Value error, ")
    message = f"found a value of `{key}` in the check `{kind.name}` that does not fit: {_lower(reason)}"
    return ConfigError(message, code="config.invalid_value", where=where)


def _lower(text: str) -> str:
    return text[:1].lower() + text[1:].rstrip(".")
