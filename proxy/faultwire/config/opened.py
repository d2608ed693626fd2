"""Opening a file that people wrote: read, looked through for literal keys, variables filled in."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from faultwire.config import dotenv, keys
from faultwire.config.reading import Reading
from faultwire.config.variables import Filler
from faultwire.errors import ConfigError, Location, printable
from faultwire.profile.yaml import MAX_BYTES, Node, read

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path


def everywhere(_root: Node, _place: tuple[str, ...]) -> bool:
    """Every variable is needed."""
    return True


def taken(path: Path, what: str) -> bytes:
    """The bytes of a file, one more than may be at most. Raises ConfigError; `what` is expected there."""
    try:
        with path.open("rb") as file:
            return file.read(MAX_BYTES + 1)
    except (OSError, ValueError) as error:
        why = getattr(error, "strerror", None) or "no file can have this name"
        raise ConfigError(
            f"found no readable file ({printable(str(why)).lower()}), expected {what}",
            code="config.not_found",
            hint="`faultwire init` writes one" if what == "a configuration" else None,
            where=Location(printable(str(path))),
        ) from None


def opened(
    data: bytes,
    path: Path,
    *,
    environ: Mapping[str, str] | None = None,
    needed: Callable[[Node, tuple[str, ...]], bool] = everywhere,
) -> tuple[Node, Reading]:
    """What a file at `path` says, and its reading, which holds what is wrong so far.

    `environ` is the environment, by default this process's; what it does not hold, `.env` beside the file
    may. `needed` says of a place (keys from the root) whether an unset variable there is a mistake. Raises
    ConfigError where there is a literal key in the file, or where it is no YAML.
    """
    reading = Reading(path)
    keys.refuse_patterns(data, reading)
    try:
        root = read(data, str(path), ConfigError)
    except ConfigError:
        reading.settle()
        raise
    keys.refuse_named(root, reading)
    reading.settle()  # nothing of a file with a key in it is shown
    beside, warnings = dotenv.read(path.absolute().parent / ".env")
    reading.first = warnings
    known = {**beside, **(os.environ if environ is None else environ)}
    return Filler(known, reading, lambda place: not needed(root, place)).fill(root), reading
