"""`rate_limit`: too many requests."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, ClassVar

from pydantic import Field

from faultwire.faults._api import Fault, Mutator, Site
from faultwire.faults._settings import Seconds
from faultwire.faults._wire import error_answer

if TYPE_CHECKING:
    from faultwire.dice import FaultDice
    from faultwire.events import Exchange, Response


class RateLimit(Fault):
    """Answer 429, with the time to wait.

    What it does:
        Gives the provider's own 429: its error body, its rate-limit headers and `retry-after`.
        Upstream is not called.

    Why agents break:
        SDKs sleep as long as they are told and try again, so a call that took one second takes a
        minute, longer than the agent's own time limit; above 120 s Python's OpenAI SDK does not wait
        at all and raises. Agents with several workers repeat all at once and are limited again.

    Real-world source:
        Every provider limits requests and tokens per minute. `retry-after` may be missing, a fraction
        of a second, or longer than a minute once a daily quota is used up.

    Example:
        faults:
          - rate_limit: {retry_after_s: 2}
            on: {kind: llm, provider: openai}
            trigger: {after_calls: 5, max_times: 3}
    """

    name: ClassVar[str] = "rate_limit"
    site: ClassVar[Site] = "response"

    retry_after_s: Annotated[Seconds | None, Field(description="the wait; `null`: none is told")] = 1.0

    def start(self, exchange: Exchange, dice: FaultDice) -> Mutator:
        """Make up the answer."""
        return _Limited(error_answer(exchange, 429, retry_after_s=self.retry_after_s), self.retry_after_s)


class _Limited(Mutator):
    def __init__(self, answer: Response, retry_after_s: float | None) -> None:
        self._answer = answer
        self._wait = "no `retry-after`" if retry_after_s is None else f"retry after {retry_after_s:g} s"

    def answer(self) -> Response:
        self.effect = f"answered 429, {self._wait}"
        return self._answer
