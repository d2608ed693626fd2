"""`--freeze-time`: the instant and the library that freezes the clock."""

from __future__ import annotations

import os
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any, TypeVar

import click

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from faultwire.capture.freeze import FrozenClock
    from faultwire.replay.settings import ReplaySettings

F = TypeVar("F", bound="Callable[..., Any]")
AUTO = "auto"
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def freeze_option(command: F) -> F:
    """The option, as the argument `freeze_time`."""
    return click.option(
        "--freeze-time",
        is_flag=False,
        flag_value=AUTO,
        default=None,
        metavar="[INSTANT]",
        help="Freeze the command's clock (now, a replayed tape's instant, or --freeze-time=INSTANT).",
    )(command)


def freezing(
    requested: str | None, replay: ReplaySettings | None, command: Sequence[str]
) -> FrozenClock | None:
    """The requested clock, or None. Raises UsageError, CaptureError, TapeError."""
    from faultwire import clock
    from faultwire.capture import freeze, runtime
    from faultwire.errors import CaptureError

    if requested is None:
        return None
    freeze.require_reach(command, os.environ)
    now = clock.utc_now()
    at = freeze.instant(requested) if requested != AUTO else now if replay is None else _of_tape(replay)
    found = freeze.frozen_clock(at, os.environ, now)
    if runtime.recognise(command, os.environ) == "python" and not freeze.lets_python_sleep(found):
        raise CaptureError(
            f"found `{found.library}`, under which Python's `time.sleep` fails, expected one after 0.9.10",
            code="freeze.library",
            hint=f"`pip install libfaketime` builds a newer one; name its file in `{freeze.VARIABLE}`",
        )
    return found


def _of_tape(replay: ReplaySettings) -> datetime:
    """The instant at which a tape's clock was frozen, or else its start."""
    from faultwire.capture import freeze
    from faultwire.replay.reader import as_it_is
    from faultwire.tape.read.reader import TapeReader

    with as_it_is(replay.tape) if replay.unverified else TapeReader.open(replay.tape) as tape:
        about = tape.info()
    frozen = about.settings.get("frozen")
    if isinstance(frozen, dict) and isinstance(frozen.get("instant"), str):
        return freeze.instant(frozen["instant"])
    return _EPOCH + timedelta(milliseconds=about.created_ms)
