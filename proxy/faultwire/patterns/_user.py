"""Patterns of the user: the `patterns:` list of a configuration."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from faultwire import _core
from faultwire.errors import ConfigError

if TYPE_CHECKING:
    from collections.abc import Iterable

SEVERITIES: Final = ("low", "medium", "high", "critical")
FIELDS: Final = ("id", "regex", "category", "severity", "context")


@dataclass(frozen=True, slots=True)
class Pattern:
    """One entry: a regular expression on the linear-time engine, and words that must stand near."""

    id: str
    regex: str
    category: str = "custom"
    severity: str = "medium"
    context: tuple[str, ...] = ()


def read_patterns(entries: object) -> tuple[Pattern, ...]:
    """The patterns of a parsed `patterns:` value; raises `ConfigError` naming the entry and field."""
    if not isinstance(entries, list):
        raise ConfigError(f"`patterns` is {type(entries).__name__}, expected a list")
    patterns = tuple(_entry(index, entry) for index, entry in enumerate(entries))
    names = [pattern.id for pattern in patterns]
    for name in names:
        if names.count(name) > 1:
            raise ConfigError(f"pattern `{name}` stands twice in `patterns`")
    compile_patterns(patterns)
    return patterns


def compile_patterns(patterns: Iterable[Pattern]) -> _core.UserPatterns:
    """Compiles patterns for `scan` and `StreamScanner`."""
    rows = [(p.id, p.regex, p.category, p.severity, list(p.context)) for p in patterns]
    try:
        return _core.UserPatterns(rows)
    except ValueError as error:
        raise ConfigError(
            str(error), hint="look-around and back-references have no linear-time form"
        ) from error


def _entry(index: int, entry: object) -> Pattern:
    where = f"`patterns[{index}]`"
    if not isinstance(entry, dict):
        raise ConfigError(f"{where} is {type(entry).__name__}, expected a mapping")
    for key in entry:
        if key not in FIELDS:
            raise ConfigError(f"{where} has an unknown field `{key}`, expected {_list(FIELDS)}")
    for key in ("id", "regex"):
        if not isinstance(entry.get(key), str) or not entry[key]:
            raise ConfigError(f"{where} needs a text `{key}`")
    severity = entry.get("severity", "medium")
    if severity not in SEVERITIES:
        raise ConfigError(f"{where} has severity `{severity}`, expected {_list(SEVERITIES)}")
    context = entry.get("context", [])
    words = [context] if isinstance(context, str) else context
    if not isinstance(words, list) or not all(isinstance(word, str) for word in words):
        raise ConfigError(f"{where} has a `context` that is no list of words")
    return Pattern(entry["id"], entry["regex"], str(entry.get("category", "custom")), severity, tuple(words))


def _list(words: Iterable[str]) -> str:
    return ", ".join(f"`{word}`" for word in words)
