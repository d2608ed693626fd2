"""The sentences of the inventory (`tests/meta/sentences.py`) as patterns, to look for them in an output.

A sentence is found by the words around its values. Most are a whole line or message; a few are a part of one.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from functools import cache

from tests.meta.sentences import SOURCES, sentences

VALUE = r".+?"
_GAP = re.compile(r"\{\}")
FINDING = re.compile(r"^  (?:bad|note) (?P<code>\w+): (?P<words>.*)$", re.MULTILINE)
"""A finding as `tape verify` and `tape import` print it."""


def known(*modules: str) -> dict[str, str]:
    """The templates of these modules (below the package), by the key that the inventory gives them."""
    return {one.key: one.template for module in modules for one in sentences(SOURCES / module)}


def words(template: str) -> str:
    """A template as a regular expression, any value in each of its gaps."""
    return VALUE.join(map(re.escape, _GAP.split(template)))


class Patterns:
    """Which sentences of some modules stand in a text.

    `special` replaces what a template alone would find: those that are few words between values, by key.
    `parts` are the templates that stand within others.
    """

    def __init__(
        self, modules: Iterable[str], *, special: Mapping[str, str] = {}, parts: Iterable[str] = ()
    ) -> None:
        self.templates = known(*modules)
        self._special = {self.key(name): pattern for name, pattern in special.items()}
        self._parts = {self.key(name) for name in parts}

    def key(self, template: str) -> str:
        """The one key that a template has."""
        (found,) = (key for key, one in self.templates.items() if one == template)
        return found

    def keys(self, templates: Iterable[str]) -> set[str]:
        return {self.key(one) for one in templates}

    def found(self, messages: Iterable[str]) -> set[str]:
        """The keys of the sentences that stand in any of these messages."""
        lines = list(messages)
        return {key for key in self.templates if any(self._stands(key, line) for line in lines)}

    def _stands(self, key: str, line: str) -> bool:
        pattern = _compiled(self._special.get(key, words(self.templates[key])))
        return bool(pattern.search(line) if key in self._parts else pattern.fullmatch(line))


@cache
def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern)


def findings(text: str) -> list[str]:
    """The messages of the findings that a command printed."""
    return [one["words"] for one in FINDING.finditer(text)]
