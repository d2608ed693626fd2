"""`latency`: the answer comes late."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Annotated, ClassVar, Literal, Self

from pydantic import Field, model_validator

from faultwire.events import Wait
from faultwire.faults._api import Fault, Mutator, Site
from faultwire.faults._settings import Milliseconds

if TYPE_CHECKING:
    from collections.abc import Iterable

    from faultwire.dice import FaultDice
    from faultwire.events import Action, Exchange

_TAKES: dict[str, frozenset[str]] = {
    "constant": frozenset(),
    "uniform": frozenset(("jitter_ms",)),
    "normal": frozenset(("jitter_ms",)),
    "lognormal": frozenset(("p99_ms",)),
    "spike": frozenset(("p99_ms",)),
}
"""What each distribution takes beside `ms`."""

_Z99 = 2.3263478740408408
"""How many standard deviations the 99th percentile of a normal distribution is from its mean."""


class Latency(Fault):
    """Hold a call back before it goes out.

    What it does:
        Waits before the request is passed on, then lets everything through unchanged. `constant`
        waits `ms`; `uniform` anything within `jitter_ms` around `ms`; `normal` has mean `ms` and
        standard deviation `jitter_ms`, never under 0; `lognormal` has median `ms` and 99th percentile
        `p99_ms`, the shape of real networks; `spike` waits `ms`, but `p99_ms` in one call of a hundred.

    Why agents break:
        Time limits that were never tried out: a tool gives up after 10 s and its result is lost, a
        retry is sent while the first call is still running, a user interface waits in silence.

    Real-world source:
        Model providers under load answer in tens of seconds where they usually take one; the official
        SDKs wait up to 600 s by default before they call that an error.

    Example:
        faults:
          - latency: {distribution: lognormal, ms: 800, p99_ms: 6000}
            on: {kind: llm}
    """

    name: ClassVar[str] = "latency"
    site: ClassVar[Site] = "connection"

    distribution: Annotated[
        Literal["constant", "uniform", "normal", "lognormal", "spike"], Field(description="how delays vary")
    ] = "constant"
    ms: Annotated[Milliseconds, Field(description="the usual delay")]
    jitter_ms: Annotated[Milliseconds | None, Field(description="for `uniform`, `normal`: spread")] = None
    p99_ms: Annotated[Milliseconds | None, Field(description="for `lognormal`, `spike`: worst 1 %")] = None

    @model_validator(mode="after")
    def _fits(self) -> Self:
        takes = _TAKES[self.distribution]
        for setting in ("jitter_ms", "p99_ms"):
            given = getattr(self, setting) is not None
            if given and setting not in takes:
                raise ValueError(f"found `{setting}`, which distribution `{self.distribution}` does not take")
            if not given and setting in takes:
                raise ValueError(f"found no `{setting}`, which distribution `{self.distribution}` needs")
        if self.p99_ms is not None and not 0 < self.ms <= self.p99_ms:
            raise ValueError("found `p99_ms` under `ms` or `ms` of 0, expected 0 < `ms` ≤ `p99_ms`")
        return self

    def delay_ms(self, dice: FaultDice) -> int:
        """One delay in whole milliseconds; whole, so that it is the same on every machine."""
        jitter, p99 = self.jitter_ms or 0.0, self.p99_ms or 0.0
        if self.distribution == "uniform":
            delay = dice.uniform(self.ms - jitter, self.ms + jitter, "delay")
        elif self.distribution == "normal":
            delay = self.ms + jitter * _normal(dice)
        elif self.distribution == "lognormal":
            delay = self.ms * math.exp(math.log(p99 / self.ms) / _Z99 * _normal(dice))
        elif self.distribution == "spike":
            delay = p99 if dice.unit("delay") >= 0.99 else self.ms
        else:
            delay = self.ms
        return min(max(0, round(delay)), 2 * 3_600_000)

    def start(self, exchange: Exchange, dice: FaultDice) -> Mutator:
        """Roll the delay of this call."""
        return _Late(self.delay_ms(dice))


def _normal(dice: FaultDice) -> float:
    """A standard normal deviate, by Box and Muller."""
    return math.sqrt(-2 * math.log(1 - dice.unit("radius"))) * math.cos(2 * math.pi * dice.unit("angle"))


class _Late(Mutator):
    def __init__(self, delay_ms: int) -> None:
        self._delay_ms = delay_ms

    def before(self) -> Iterable[Action]:
        if self._delay_ms:
            self.effect = f"delayed by {self._delay_ms} ms"
            yield Wait(self._delay_ms / 1000)
