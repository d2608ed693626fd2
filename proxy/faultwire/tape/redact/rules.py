"""What the user wants redacted besides secrets: the `redact:` section of a configuration.

```yaml
redact:
  pii: true                        # personal data, as the pattern engine knows it
  headers: ["x-tenant-*"]          # globs over header names, without case
  paths: ["$.user.email", "$..ssn"]  # JSONPath into JSON bodies and into the events of streams
  patterns: [{id: employee, regex: "EMP-[0-9]{6}"}]
```
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from faultwire import _core
from faultwire.errors import ConfigError
from faultwire.patterns import Pattern, compile_patterns, read_patterns
from faultwire.profile.jsonpath import compile_path

if TYPE_CHECKING:
    from faultwire.profile.jsonpath import Step

FIELDS = ("pii", "headers", "paths", "patterns")
MOST = 256
"""Entries of one list, at most."""


@dataclass(frozen=True, slots=True)
class Hit:
    """A span of a text that a rule covers, and the class of its placeholder."""

    start: int
    end: int
    what: str


class Rules:
    """Compiled rules of one tape. Used by the writer thread only."""

    def __init__(
        self,
        *,
        pii: bool = False,
        headers: tuple[str, ...] = (),
        paths: tuple[tuple[Step, ...], ...] = (),
        patterns: tuple[Pattern, ...] = (),
    ) -> None:
        self.paths = paths
        self._headers = headers
        self._user = compile_patterns(patterns) if patterns else None
        self._own = ["user"] if patterns else []
        self._all = [*self._own, *(["pii"] if pii else [])]
        self._known: dict[str, bool] = {}

    @property
    def looks(self) -> bool:
        """Is there anything to look for in a text?"""
        return bool(self._all)

    def covers(self, name: str) -> bool:
        """Is a header of this name to be redacted whole?"""
        found = self._known.get(name)
        if found is None:
            bare = name.strip().lower()
            found = any(_core.glob_match(glob, bare) for glob in self._headers)
            if len(self._known) < 4096:
                self._known[name] = found
        return found

    def in_bytes(self, text: str) -> list[Hit]:
        """Hits in bytes, given as Latin-1."""
        if not self._all:
            return []
        stream = _core.PatternStream(self._all, None, self._user)
        return _hits([*stream.feed(text.encode("latin-1")), *stream.finish()])

    def in_text(self, text: str) -> list[Hit]:
        """Hits in a text."""
        return _hits(_core.scan_text(text, self._all, None, self._user)) if self._all else []

    def in_header(self, value: str) -> list[Hit]:
        """Hits of the user's own patterns: header fields are full of numbers and hosts that only look
        like personal data."""
        return _hits(_core.scan_text(value, self._own, None, self._user)) if self._own else []


def _hits(rows: list[tuple[str, str, str, str, int, int, float, str]]) -> list[Hit]:
    """In order, without overlap: of several that touch the same place the first stands."""
    found: list[Hit] = []
    for kind, name, _, _, start, end, _, _ in sorted(rows, key=lambda row: (row[4], -row[5])):
        if not found or start >= found[-1].end:
            found.append(Hit(start, end, f"{'rule' if kind == 'user' else kind}.{name}"))
        elif end > found[-1].end:
            found.append(Hit(found[-1].end, end, found[-1].what))
    return found


def read_rules(section: object) -> Rules | None:
    """The rules of a parsed `redact:` value, None where it asks for nothing. Raises ConfigError."""
    if section is None:
        return None
    if not isinstance(section, dict):
        raise ConfigError(f"`redact` is {type(section).__name__}, expected a mapping")
    for key in section:
        if key not in FIELDS:
            raise ConfigError(
                f"`redact` has an unknown field `{key}`, expected {', '.join(f'`{name}`' for name in FIELDS)}"
            )
    pii = section.get("pii", False)
    if not isinstance(pii, bool):
        raise ConfigError(f"`redact.pii` is {type(pii).__name__}, expected `true` or `false`")
    headers = tuple(glob.strip().lower() for glob in _texts(section, "headers"))
    paths = tuple(_path(index, path) for index, path in enumerate(_texts(section, "paths")))
    patterns = read_patterns(section.get("patterns", []))
    if not (pii or headers or paths or patterns):
        return None
    return Rules(pii=pii, headers=headers, paths=paths, patterns=patterns)


def _texts(section: dict[str, Any], field: str) -> list[str]:
    found = section.get(field, [])
    if not isinstance(found, list) or not all(isinstance(text, str) and text.strip() for text in found):
        raise ConfigError(f"`redact.{field}` is no list of texts")
    if len(found) > MOST:
        raise ConfigError(f"`redact.{field}` has {len(found)} entries, expected at most {MOST}")
    return found


def _path(index: int, path: str) -> tuple[Step, ...]:
    try:
        steps = compile_path(path)
    except ValueError as error:
        raise ConfigError(f"`redact.paths[{index}]`: {error}") from error
    if not steps:
        raise ConfigError(f"`redact.paths[{index}]` is all of the body, expected a path into it")
    return steps
