"""Where tapes are: by path, by name, and all of a project."""

from __future__ import annotations

import json
from pathlib import Path

from faultwire.errors import TapeNotFound, did_you_mean

STATE = Path(".faultwire")
SUFFIX = ".tape"
LARGEST = 1 << 20
"""Bytes of a `run.json` that is read."""


def tapes(folder: Path | None = None, *, base: Path = STATE) -> list[Path]:
    """The tapes in a folder; without one, the project's own and those of its runs.

    Raises TapeNotFound where the named folder does not exist.
    """
    if folder is None:
        found = sorted([*base.glob(f"tapes/*{SUFFIX}"), *base.glob(f"runs/*/*{SUFFIX}")])
        return list({path.resolve(): path for path in reversed(found)}.values())[
            ::-1
        ]  # a link is no second one
    if not folder.is_dir():
        raise TapeNotFound(f"no folder at `{folder}`")
    return sorted(folder.glob(f"*{SUFFIX}"))


def recorded_elsewhere(*, base: Path = STATE) -> list[Path]:
    """The tapes of runs that were recorded with `--record` to a place of the user's own, as far as they are
    still there."""
    found = (_recorded(folder) for folder in sorted(base.glob("runs/*")))
    paths = {path.resolve(): path for path in found if path is not None}
    ours = {path.resolve() for path in tapes(base=base)}
    return [path for real, path in paths.items() if real not in ours]


def _recorded(run: Path) -> Path | None:
    """The tape of a run: in its folder, or where `run.json` says that it was recorded."""
    if (run / "run.tape").exists():
        return run / "run.tape"
    try:
        about = (run / "run.json").read_bytes()
        named = json.loads(about).get("tape") if len(about) <= LARGEST else None
    except (OSError, ValueError, AttributeError):
        return None
    path = Path(named) if isinstance(named, str) and named else None
    return path if path is not None and path.is_file() else None


def find(name: str, *, base: Path = STATE) -> Path:
    """The tape that a user named: a path, with or without its `.tape`, a name below `tapes/`, a run, or
    `last` for the newest run's, wherever it was recorded.

    Raises TapeNotFound.
    """
    given = Path(name)
    if given.is_file() or given.is_symlink() or "/" in name:
        return given
    place = base / "tapes" / f"{name.removesuffix(SUFFIX)}{SUFFIX}"
    if place.exists():
        return place
    if name and (ran := _recorded(base / "runs" / name)) is not None:
        return ran
    if name == "last":
        runs = sorted(base.glob("runs/*"), reverse=True)  # a run's name begins with its moment
        if (newest := next((tape for run in runs if (tape := _recorded(run)) is not None), None)) is not None:
            return newest
    if (beside := Path(f"{name}{SUFFIX}")).is_file():
        return beside
    known = [path.stem for path in tapes(base / "tapes")] if (base / "tapes").is_dir() else []
    hint = did_you_mean(name, known) if known else "`faultwire tape list` names the tapes"
    raise TapeNotFound(f"no tape named `{name}`", hint=hint)
