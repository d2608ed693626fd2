"""A repro folder, for the page: the decisions with which the agent failed, and how to see it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from faultwire.errors import FaultwireError
from faultwire.profile.load import load
from faultwire.shrink.repro import CONTRACT, PROFILE, read
from faultwire.trials.model import Pin
from faultwire.workbench.written import Words

if TYPE_CHECKING:
    from pathlib import Path

    from faultwire.profile.model import Profile

DECISIONS = 500
"""Decisions that are listed."""
LARGEST = 100_000
"""Bytes of a contract that are shown."""


def shrunk(folder: Path) -> dict[str, Any]:
    """The folder. Raises UsageError and ProfileError where it is none."""
    return reproduced(folder, Words())


def reproduced(folder: Path, words: Words) -> dict[str, Any]:
    """What a repro folder holds; `problem` says why it cannot be read, where it cannot."""
    try:
        about, profile = read(folder), load(folder / PROFILE)
    except FaultwireError as error:
        return {"folder": words.line(str(folder), 1_000), "problem": words.line(error.message)}
    decided = decisions(profile)
    return {
        "folder": words.line(str(folder), 1_000),
        "problem": None,
        "session": words.line(about.session),
        "seed": about.seed,
        "rate": about.rate,
        "runs": about.runs,
        "timeout_s": about.timeout_s,
        "command": None if about.command is None else [words.line(part) for part in about.command],
        "oracle": None if about.oracle is None else words.line(about.oracle),
        "prompt": None if about.prompt is None else words.text(about.prompt),
        "decisions": [words.line(one) for one in decided[:DECISIONS]],
        "decisions_not_shown": max(0, len(decided) - DECISIONS),
        "contract": _contract(folder / CONTRACT, words),
    }


def decisions(profile: Profile) -> list[str]:
    """Each pinned decision with the settings of its fault, as the command prints it."""
    found = []
    for entry in profile.entries:
        settings = ", ".join(f"{name}: {value}" for name, value in entry.fault.non_default_settings().items())
        pins = [Pin(entry.id, call).text for call in entry.trigger.calls or ()]
        found += [f"{pin}{f' {{{settings}}}' if settings else ''}" for pin in pins]
    return found


def _contract(path: Path, words: Words) -> str | None:
    """The invariant that fails; None where a command of the user's judges."""
    if path.is_symlink() or not path.is_file():
        return None
    with path.open("rb") as file:
        return words.text(file.read(LARGEST).decode("utf-8", "replace"))
