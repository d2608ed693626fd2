"""The only reader of time. Everything else gets its instants from here."""

from __future__ import annotations

import asyncio
import time
from datetime import UTC, datetime

MS = 1_000_000
"""Nanoseconds in a millisecond."""


monotonic_ns = time.monotonic_ns
"""Nanoseconds on a clock that never goes back; only differences mean something."""
monotonic = time.monotonic
"""Seconds on the same clock."""


def wall_ms() -> int:
    """Milliseconds since the Unix epoch, for people; never used for order."""
    return time.time_ns() // MS


def utc_now() -> datetime:
    """The wall clock as an aware datetime in UTC."""
    return datetime.now(UTC)


def iso(ms: int) -> str:
    """RFC 3339 text in UTC of `wall_ms` milliseconds."""
    return datetime.fromtimestamp(ms / 1000, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def cpu_s() -> float:
    """CPU seconds that this process has used, all threads."""
    return time.process_time()


def thread_cpu_s() -> float:
    """CPU seconds that this thread has used."""
    return time.thread_time()


async def sleep(seconds: float) -> None:
    """Give way to other work for at least `seconds`."""
    await asyncio.sleep(seconds)


def pause(seconds: float) -> None:
    """Block this thread for at least `seconds`; for programs without an event loop."""
    time.sleep(seconds)
