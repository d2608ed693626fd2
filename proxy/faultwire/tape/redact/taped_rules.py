"""Redaction rules as tapes hold them: whoever replays a tape redacts as it was recorded.

Without them a live request is compared in plain text with a redacted one: it misses, and the miss writes
to disk what the recording kept off it.
"""

from __future__ import annotations

from itertools import count
from typing import TYPE_CHECKING, Any

from faultwire.errors import ConfigError, TapeError, UsageError, printable
from faultwire.patterns import read_patterns
from faultwire.tape.redact.edit import MARK
from faultwire.tape.redact.rules import FIELDS, Rules, read_rules

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from faultwire.tape.redact.redactor import Redactor

Section = dict[str, Any]
"""A parsed `redact:` value that `read_rules` accepts."""

KEY = "redact"
"""The member of a tape's settings."""


def taped(section: Mapping[str, Any], redactor: Redactor) -> Section:
    """The rules as a tape's settings hold them. Raises ConfigError.

    A pattern that matches its own text (a name, a number) would put on the tape what it keeps off it; the
    tape gets a placeholder in place of such a text, and keeps one that it is given.
    """
    patterns = section.get("patterns") or []
    read_patterns(patterns)
    kept = [
        {**one, "regex": redactor.placeholder("rule.pattern", one["regex"], {})}
        if _matches_itself(one)
        else one
        for one in patterns
    ]
    found = {name: section[name] for name in FIELDS if section.get(name)}
    return {**found, "patterns": kept} if kept else found


def _matches_itself(pattern: Mapping[str, Any]) -> bool:
    regex = pattern["regex"]
    return bool(Rules(patterns=read_patterns([{"id": "own", "regex": regex}])).in_text(regex))


def rules_of(settings: Mapping[str, Any], path: Path) -> Section:
    """The rules that a tape was recorded with, from its settings. Raises TapeError where they are none."""
    found = settings.get(KEY)
    try:
        read_rules(found)
    except ConfigError as error:
        raise TapeError(
            f"tape `{printable(str(path))}` holds redaction rules that cannot be read: {error.message}",
            code="tape.redact",
        ) from error
    return found or {}


def joined(first: Mapping[str, Any], second: Mapping[str, Any]) -> Section:
    """What either of two sets of rules redacts. A pattern of the second whose id has another text in the
    first gets an id of its own; one whose text the first does not hold takes its place there."""
    found: Section = {"pii": True} if first.get("pii") or second.get("pii") else {}
    for name in ("headers", "paths"):
        values = list(dict.fromkeys([*(first.get(name) or ()), *(second.get(name) or ())]))
        if values:
            found[name] = values
    patterns: dict[str, Any] = {one["id"]: one for one in first.get("patterns") or ()}
    for one in second.get("patterns") or ():
        known = patterns.get(one["id"])
        if known is None or _is_withheld(known):
            patterns[one["id"]] = one
        elif known != one and not _is_withheld(one):
            free = next(name for n in count(2) if (name := f"{one['id']}-{n}") not in patterns)
            patterns[free] = {**one, "id": free}
    return {**found, "patterns": list(patterns.values())} if patterns else found


def complete(section: Section, path: Path) -> Section:
    """The rules, where none of their patterns is missing. Raises UsageError."""
    missing = [one["id"] for one in section.get("patterns") or () if _is_withheld(one)]
    if missing:
        raise UsageError(
            f"found tape `{printable(str(path))}`, which was recorded with the redaction pattern "
            f"`{printable(missing[0])}` and does not hold its text, expected the pattern in the "
            "configuration",
            code="replay.redact",
            hint="--config FILE with the `redact:` section of the recording",
        )
    return section


def _is_withheld(pattern: Mapping[str, Any]) -> bool:
    return str(pattern["regex"]).startswith(MARK)
