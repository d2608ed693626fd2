"""Abort conditions of faults that are armed while a proxy runs: a state machine over what agents got.

Pure: every instant is handed in. Calls that wait for an answer count as soon as they have waited too long, so
that a fault which answers nothing is judged as well.
"""

from __future__ import annotations

from collections import deque

from faultwire.plugins.frozen import dataclass

KEPT = 10_000
"""Calls that are remembered within a window; the oldest are forgotten first."""
SLOW_SHARE = 0.05
"""Of how many calls may the latency be above its threshold: a 95th percentile."""


@dataclass(frozen=True, slots=True)
class Thresholds:
    """What ends an intervention: the share of calls that failed, and the 95th percentile of the seconds to
    the first byte of an answer. Both over the last `window_s` seconds, once these hold `min_calls` calls."""

    error_rate: float | None = None
    latency_s: float | None = None
    min_calls: int = 5
    window_s: float = 30.0


class Guardrail:
    """Is told of every call, and says when a threshold is passed."""

    def __init__(self, thresholds: Thresholds) -> None:
        self._limits = thresholds
        self._waiting: dict[int, float] = {}
        self._slow: deque[tuple[float, bool]] = deque(maxlen=KEPT)
        self._failed: deque[tuple[float, bool]] = deque(maxlen=KEPT)

    def begin(self, call: int, now: float) -> None:
        """A call came in."""
        self._waiting[call] = now

    def answer(self, call: int, now: float) -> None:
        """The first byte of its answer goes to the agent."""
        began = self._waiting.pop(call, None)
        if began is not None:
            self._slow.append((now, self._is_slow(began, now)))

    def end(self, call: int, now: float, *, failed: bool) -> None:
        """It is over."""
        self.answer(call, now)
        self._failed.append((now, failed))

    def judge(self, now: float) -> str | None:
        """Which threshold is passed, in words; None where none is."""
        limits = self._limits
        for seen in (self._slow, self._failed):
            while seen and now - seen[0][0] > limits.window_s:
                seen.popleft()
        if limits.error_rate is not None and len(self._failed) >= limits.min_calls:
            failed = sum(bad for _, bad in self._failed)
            if failed > limits.error_rate * len(self._failed):
                count = len(self._failed)
                all_calls = f"{count} call{'s' * (count != 1)}"
                return f"{failed} of {all_calls} failed, allowed are {limits.error_rate:g}"
        if limits.latency_s is not None:
            late = sum(self._is_slow(began, now) for began in self._waiting.values())
            slow, calls = late + sum(bad for _, bad in self._slow), late + len(self._slow)
            if calls >= limits.min_calls and slow > SLOW_SHARE * calls:
                return (
                    f"{slow} of {calls} call{'s' * (calls != 1)} had no first byte in "
                    f"{limits.latency_s:g} s, allowed are {SLOW_SHARE:g}"
                )
        return None

    def _is_slow(self, began: float, now: float) -> bool:
        return self._limits.latency_s is not None and now - began > self._limits.latency_s
