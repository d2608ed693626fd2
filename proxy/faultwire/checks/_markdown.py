"""The tables of checks in `docs/reference/checks.md`, from the checks' own code."""

from __future__ import annotations

from typing import TYPE_CHECKING, get_args

from faultwire.checks._api import Check, Evidence
from faultwire.checks._describe import describe
from faultwire.errors import FaultwireError

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from faultwire.faults._describe import Setting

BEGIN = "<!-- checks: written by `python -m faultwire.checks`; edit the checks instead -->\n"
END = "<!-- end of checks -->\n"
_TITLES: Mapping[Evidence, str] = {
    "answer": "On the answer, and how the agent ended",
    "tools": "On the wire: tools",
    "requests": "On the wire: where it goes, and what it costs",
    "failures": "On the wire: failures",
    "attacks": "On the wire: attacks and leaks",
    "cells": "Over all cells",
}
_HEAD = "| check | what must hold | its settings |\n|---|---|---|"


def filled(page: str, checks: Iterable[type[Check]]) -> str:
    """The page with its tables written anew: a row for each check, by what it needs to have seen.

    Raises FaultwireError where the page has no place for them.
    """
    before, begin, after = page.partition(BEGIN)
    _, end, rest = after.partition(END)
    if not (begin and end):
        raise FaultwireError("found no place for the checks in the page, expected one", code="check.page")
    known = tuple(checks)
    made = [
        "\n".join((f"## {_TITLES[kind]}", "", _HEAD, *map(_row, rows)))
        for kind in get_args(Evidence)
        if (rows := [check for check in known if check.evidence == kind])
    ]
    tables = "\n\n".join(made)
    return f"{before}{begin}\n{tables}\n\n{end}{rest}"


def _row(check: type[Check]) -> str:
    found = describe(check)
    own = [_setting(one) for one in found.settings if one.name not in Check.model_fields]
    return f"| `{found.name}` | {found.summary.rstrip('.')} | {', '.join(own) or '–'} |"


def _setting(one: Setting) -> str:
    return f"`{one.name}`{' (needed)' if one.default is None else ''}"
