"""Installs a table of prices as the user's own.

It goes to the user's configuration folder and is read by every command from then on. A table replaces one
that is at most as new: the installed one, or the built-in one where none is installed.
"""

from __future__ import annotations

import os
from datetime import timedelta
from typing import TYPE_CHECKING

from faultwire.clock import utc_now
from faultwire.dice import token
from faultwire.errors import ConfigError, Location, printable
from faultwire.wire.transcript.price_file import contents, parse
from faultwire.wire.transcript.prices import UNDATED, builtin, forget, installed, load, made, place

if TYPE_CHECKING:
    from pathlib import Path

    from faultwire.wire.transcript.prices import Prices


def install(source: Path, *, force: bool = False) -> tuple[Path, Prices]:
    """Check a table and write it to `place()`; where it is, and its prices.

    Raises ConfigError where it is no table, has no date or no model, is of a future day, or is older than the
    table that it would replace; `force` allows the last two. What is installed stays as it is then.
    """
    data = contents(source)
    table = parse(data, source)
    if table.as_of is None:
        raise _refused(source, "found no `as_of`, expected the day that the prices are of", None)
    found = made(table)
    if not any(found.models.values()):
        raise _refused(source, "found no price, expected one or more", None)
    if not force:
        _judge_date(source, found.as_of)
    target = place()
    if target is None:
        raise ConfigError(
            "found neither `XDG_CONFIG_HOME` nor `HOME`, expected a folder for the table",
            code="config.prices_folder",
            hint="`--prices FILE` uses a table without installing it",
        )
    _write(target, data)
    forget()
    return target, found


def _judge_date(source: Path, day: str) -> None:
    # Somewhere it is tomorrow already.
    if day > (utc_now() + timedelta(days=1)).date().isoformat():
        raise _refused(source, f"found `as_of` of {day}, expected no day of the future")
    path = installed()
    try:
        kept = load(path) if path is not None else builtin()
    except ConfigError as error:
        raise _refused(source, f"the installed table cannot be read: {error.message}") from None
    if kept.as_of != UNDATED and day < kept.as_of:
        which = f"the installed table `{printable(str(path))}`" if path is not None else "the built-in table"
        raise _refused(source, f"found `as_of` of {day}, expected {kept.as_of} or later, as {which} has")


def _refused(source: Path, what: str, hint: str | None = "`--force` installs it all the same") -> ConfigError:
    return ConfigError(what, code="config.prices", where=Location(printable(str(source))), hint=hint)


def _write(target: Path, data: bytes) -> None:
    """Whole or not at all, whoever else writes it at the same moment."""
    draft = target.with_name(f"{target.name}.{token(4)}")
    try:
        target.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        try:
            with open(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
                file.write(data)
                file.flush()
                os.fsync(file.fileno())
            draft.replace(target)
        finally:
            draft.unlink(missing_ok=True)
    except OSError as error:
        raise ConfigError(
            f"cannot write `{printable(str(target))}`: {error.strerror}", code="config.prices_folder"
        ) from error
