"""Prompts of several fields: lines such as `Product name: Pear` that fill places of an agent's request.

Whoever asks the agent reads them here, and whoever mutates a prompt changes values only: a mutant whose
request could not be made would say nothing of the agent.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

SEPARATORS = (":", "=", " - ")
"""The first of these that is in a line ends its key."""


@dataclass(frozen=True, slots=True)
class Line:
    """A line with a key; its value is `prompt[start:end]`."""

    key: str
    start: int
    end: int


def normalised(name: str) -> str:
    """A key as Flakestorm reads it: lower case, letters and digits only."""
    return "".join(c for c in name.lower() if c.isascii() and c.isalnum())


def lines(prompt: str) -> list[Line]:
    """The lines of a prompt that are `key: value`, `key = value` or `key - value`."""
    found, at = [], 0
    for whole in prompt.splitlines(keepends=True):
        (text,) = whole.splitlines() or [""]
        separator = next((s for s in SEPARATORS if s in text), None)
        if separator is not None:
            key, _, value = text.partition(separator)
            begin = at + len(key) + len(separator)
            start = begin + len(value) - len(value.lstrip())
            found.append(Line(key.strip(), start, start + len(value.strip())))
        at += len(whole)
    return found


def structured(prompt: str) -> dict[str, str]:
    """The values of a prompt's lines, each under its key as it stands and under the normalised one."""
    return {name: prompt[line.start : line.end] for name, line in _named(prompt).items()}


def _named(prompt: str) -> dict[str, Line]:
    return {name: line for line in lines(prompt) for name in (line.key, normalised(line.key)) if name}


class Form:
    """The names that an agent's request needs from a prompt, besides the prompt as a whole."""

    def __init__(self, names: Iterable[str]) -> None:
        self.names = tuple(sorted(names))

    def missing(self, prompt: str) -> str | None:
        """A name that the prompt has no line for, or None."""
        found = zip(self.names, self._lines(prompt), strict=True)
        return next((name for name, line in found if line is None), None)

    def fields(self, prompt: str) -> tuple[Line, ...]:
        """The lines that the request is made of, in their order; empty where one is missing."""
        found = self._lines(prompt)
        used = {line for line in found if line is not None}
        return tuple(sorted(used, key=lambda line: line.start)) if None not in found else ()

    def with_value(self, prompt: str, field: Line, value: str) -> str | None:
        """The prompt with another value in a line, on which its line ends become spaces; None where the
        request would then be made of something else than that."""
        flat = " ".join(value.splitlines()).strip()
        changed = f"{prompt[: field.start]}{flat}{prompt[field.end :]}"
        before, after = self._values(prompt), self._values(changed)
        own = {name for name, line in zip(self.names, self._lines(prompt), strict=True) if line == field}
        wanted = {name: flat if name in own else value for name, value in before.items()}
        return changed if after == wanted else None

    def _lines(self, prompt: str) -> list[Line | None]:
        named = _named(prompt)
        return [named.get(name) or named.get(normalised(name)) for name in self.names]

    def _values(self, prompt: str) -> dict[str, str | None]:
        pairs = zip(self.names, self._lines(prompt), strict=True)
        return {name: None if line is None else prompt[line.start : line.end] for name, line in pairs}
