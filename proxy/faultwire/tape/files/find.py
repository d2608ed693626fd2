"""Where tapes are: by path, by name, and all of a project."""

from __future__ import annotations

from pathlib import Path

from faultwire.errors import TapeNotFound, did_you_mean

STATE = Path(".faultwire")
SUFFIX = ".tape"


def tapes(folder: Path | None = None, *, base: Path = STATE) -> list[Path]:
    """The tapes in a folder; without one, the project's own and those of its runs.

    Raises TapeNotFound where the named folder does not exist.
    """
    if folder is None:
        return sorted([*base.glob(f"tapes/*{SUFFIX}"), *base.glob(f"runs/*/*{SUFFIX}")])
    if not folder.is_dir():
        raise TapeNotFound(f"no folder at `{folder}`")
    return sorted(folder.glob(f"*{SUFFIX}"))


def find(name: str, *, base: Path = STATE) -> Path:
    """The tape that a user named: a path, a name below `tapes/`, a run, or `last` for the newest run's.

    Raises TapeNotFound.
    """
    given = Path(name)
    if given.is_file() or given.is_symlink() or "/" in name:
        return given
    for place in (base / "tapes" / f"{name.removesuffix(SUFFIX)}{SUFFIX}", base / "runs" / name / "run.tape"):
        if place.exists():
            return place
    if name == "last" and (ran := sorted(base.glob("runs/*/run.tape"))):
        return ran[-1]  # a run's name begins with its moment
    known = [path.stem for path in tapes(base / "tapes")] if (base / "tapes").is_dir() else []
    hint = did_you_mean(name, known) if known else "`faultwire tape list` names the tapes"
    raise TapeNotFound(f"no tape named `{name}`", hint=hint)
