"""A frozen clock for the child, through libfaketime: what it does with dates is then the same every time.

The library is loaded into every dynamically linked program below the child; those that are not, that take the
time from the kernel (Go's), and that drop `LD_PRELOAD` see the real time. A command that is such a program is
refused: what it does with dates would still differ. Only the date stands still: the monotonic clock, by which
programs wait, goes on, and files keep their own times.
"""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

from faultwire.capture import runtime
from faultwire.errors import CaptureError, UsageError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

HASH_SEED = "0"
"""Python's hashes, by which sets are ordered, are random in every process otherwise."""
VARIABLE = "FAULTWIRE_LIBFAKETIME"
"""Where the library is, if it is in none of the usual places."""
_NAMES = ("libfaketimeMT.so.1", "libfaketime.so.1")
_PLACES = ("/usr/lib/*/faketime", "/usr/lib/faketime", "/usr/local/lib/faketime", "/usr/lib64/faketime")
PROBE_S = 30
OLDEST = timedelta(days=20 * 365)


@dataclass(frozen=True, slots=True)
class FrozenClock:
    """A clock that stands still at `instant`, by this library."""

    instant: datetime
    library: Path

    def environment(self, base: Mapping[str, str]) -> dict[str, str]:
        """`base` with the clock frozen for whatever is started with it."""
        child = dict(base)
        loaded = base.get("LD_PRELOAD")
        child["LD_PRELOAD"] = f"{self.library}:{loaded}" if loaded else str(self.library)
        child["FAKETIME"] = str(int(self.instant.timestamp()))
        child["FAKETIME_FMT"] = "%s"
        # By the monotonic clock programs wait; frozen, nothing would ever be over.
        child["FAKETIME_DONT_FAKE_MONOTONIC"] = child["DONT_FAKE_MONOTONIC"] = "1"
        # Python writes files' times into its caches.
        child["NO_FAKE_STAT"] = "1"
        child.setdefault("PYTHONHASHSEED", HASH_SEED)
        return child

    def settings(self) -> dict[str, Any]:
        """The settings that are recorded on the tape."""
        return {"instant": self.instant.isoformat(), "hash_seed": HASH_SEED, "library": self.library.name}


def frozen_clock(instant: datetime, environment: Mapping[str, str], now: datetime) -> FrozenClock:
    """A clock that stands still at an instant, to the second. Raises CaptureError, UsageError."""
    whole = instant.astimezone(UTC).replace(microsecond=0)
    if not now - OLDEST < whole <= now + timedelta(days=1):
        raise UsageError(
            f"found the instant `{whole.isoformat()}`, expected one of the last {OLDEST.days // 365} years",
            code="freeze.instant",
        )
    return FrozenClock(whole, library(environment))


def library(environment: Mapping[str, str]) -> Path:
    """Where libfaketime is. Raises CaptureError where it is not installed."""
    if not sys.platform.startswith("linux"):
        raise CaptureError(
            f"found `{sys.platform}`, expected Linux: `--freeze-time` loads libfaketime into the child",
            code="freeze.platform",
        )
    named = environment.get(VARIABLE)
    found = [Path(named)] if named else [path for place in _PLACES for path in _in(place)]
    existing = next((path for path in found if path.is_file()), None)
    if existing is None:
        raise CaptureError(
            f"found no `{named or _NAMES[0]}`, expected libfaketime for `--freeze-time`",
            code="freeze.library",
            hint=f"install it (Debian: `apt install faketime`), or name the file in `{VARIABLE}`",
        )
    if set(str(existing)) & set(": "):
        raise CaptureError(
            f"found `{existing}`, expected a path without blanks and colons: `LD_PRELOAD` is split there",
            code="freeze.library",
        )
    return existing.absolute()


def _in(place: str) -> list[Path]:
    return [
        path for name in _NAMES for path in sorted(Path("/").glob(f"{place.removeprefix(os.sep)}/{name}"))
    ]


def lets_python_sleep(found: FrozenClock) -> bool:
    """Can a Python of today wait under it? Up to 0.9.10 `clock_nanosleep` until an instant of the monotonic
    clock fails, which is how `time.sleep` waits since Python 3.11 (wolfcw/libfaketime#426)."""
    done = subprocess.run(
        [sys.executable, "-I", "-S", "-c", "import time; time.sleep(0.001)"],
        env=found.environment({}),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        timeout=PROBE_S,
        check=False,
    )
    return done.returncode == 0


def require_reach(command: Sequence[str], environment: Mapping[str, str]) -> None:
    """Raise CaptureError where the library does not reach the clock of a command's own program."""
    program = runtime.program_of(command, environment)
    go = runtime.recognise(command, environment) == "go"
    if not go and (program is None or not runtime.is_static(program)):
        return
    what = "written in Go, which takes the time from the kernel" if go else "linked statically"
    raise CaptureError(
        f"found `{command[0]}`, a program that is {what}, expected one that asks the C library for the time",
        code="freeze.program",
        hint="its clock cannot be frozen; `--mask` ignores the place where it sends the time",
    )


def instant(text: str) -> datetime:
    """An instant as people write it (ISO 8601; UTC where no zone is named). Raises UsageError."""
    try:
        found = datetime.fromisoformat(text)
    except ValueError as error:
        raise UsageError(
            f"found the instant `{text[:40]}`, expected one such as `2026-01-31T12:00:00Z`",
            code="freeze.instant",
        ) from error
    return found if found.tzinfo is not None else found.replace(tzinfo=UTC)
