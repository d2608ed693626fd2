"""`rate_limit`: too many requests."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, ClassVar

from pydantic import Field

from faultwire.events import Send, with_header
from faultwire.faults._api import Fault, Mutator, Need, Site
from faultwire.faults._mutators import Answered
from faultwire.faults._settings import Seconds
from faultwire.faults._wire import error_answer, protocol_of
from faultwire.faults.response._quota import Meter, Window

if TYPE_CHECKING:
    from collections.abc import Iterable

    from faultwire.dice import FaultDice
    from faultwire.events import Action, Chunk, Exchange, Response


class RateLimit(Fault):
    """Answer 429, with the time to wait.

    What it does:
        Gives the provider's own 429: its error body, its rate-limit headers and `retry-after`.
        Upstream is not called. With `requests` or `tokens` it is a real quota per window of `window_s`:
        calls go through and are counted, tokens by the usage of whole and streamed answers; the
        provider's headers count down on each; a call for which nothing is left gets the 429 with the
        time until the window ends, and the next window is free again.

    Why agents break:
        SDKs sleep as long as the header says and try again, so a call that took one second takes a
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
    needs: ClassVar[Need] = Need.BODY | Need.EVENTS
    answers: ClassVar[bool] = True

    retry_after_s: Annotated[
        Seconds | None, Field(description="the wait; `null`: no header, or in a quota the true wait")
    ] = 1.0
    requests: Annotated[
        int | None, Field(ge=1, le=1_000_000, description="how many calls a window allows")
    ] = None
    tokens: Annotated[
        int | None, Field(ge=1, le=1_000_000_000, description="or: how many tokens it allows")
    ] = None
    window_s: Annotated[float, Field(gt=0, le=86_400, description="how long a window lasts")] = 60.0

    def start(self, exchange: Exchange, dice: FaultDice) -> Mutator:
        """Make up the answer, or look at the quota."""
        if self.requests is not None or self.tokens is not None:
            return _Metered(self, exchange)
        wait = self.retry_after_s
        wait_text = "no `retry-after`" if wait is None else f"retry after {wait:g} s"
        return Answered(error_answer(exchange, 429, retry_after_s=wait), f"answered 429, {wait_text}")


class _Metered(Mutator):
    def __init__(self, settings: RateLimit, exchange: Exchange) -> None:
        self._settings = settings
        self._exchange = exchange
        self._protocol = protocol_of(exchange)
        self._meter: Meter | None = None

    def _window(self) -> Window:
        settings, at_s = self._settings, self._exchange.at_s
        if "window" not in self.memory:
            window = Window(settings.requests, settings.tokens, settings.window_s, at_s)
            self.memory["window"] = window
        found: Window = self.memory["window"]
        found.enter(at_s)
        return found

    def answer(self) -> Response | None:
        window = self._window()
        full = window.full
        if full is None:
            window.used_requests += 1
            return None
        quota = window.left(self._exchange.at_s)
        wait = quota.reset_s if self._is_true_wait() else self._settings.retry_after_s
        self.effect = f"answered 429, no {full} left for {quota.reset_s:.1f} s"
        refused = error_answer(self._exchange, 429, retry_after_s=wait)
        if full == "tokens" and self._protocol is not None:
            refused = self._protocol.edits.of_tokens(refused)
        return self._with_quota(refused)

    def _is_true_wait(self) -> bool:
        settings = self._settings
        return "retry_after_s" not in settings.model_fields_set or settings.retry_after_s is None

    def _with_quota(self, response: Response) -> Response:
        """The response with what is left of the quota."""
        headers = response.headers
        quota = self._window().left(self._exchange.at_s)
        fields = self._protocol.edits.quota_by(self._exchange.provider, quota) if self._protocol else ()
        for name, value in fields:
            headers = with_header(headers, name, value)
        return replace(response, headers=headers)

    def head(self, response: Response) -> Response:
        if self._protocol is not None and response.status < 300:
            self._meter = Meter(self._protocol, response, self._exchange.request)
        return self._with_quota(response)

    def feed(self, chunk: Chunk) -> Iterable[Action]:
        if self._meter is not None:
            self._meter.receive(chunk.data)
        yield Send(chunk.data)

    def finish(self) -> Iterable[Action]:
        if self._meter is not None:
            self._window().used_tokens += self._meter.used()
        return ()
