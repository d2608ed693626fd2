"""`rst_stream`: one call of an HTTP/2 connection is aborted."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, ClassVar, Self

from pydantic import Field, model_validator

from faultwire.events import Reset, Send
from faultwire.faults._api import Fault, Mutator, Need, Site
from faultwire.faults._wire import no_stream
from faultwire.faults.connection._frames import CODES, Code, no_frames
from faultwire.faults.connection._places import AfterBytes, At

if TYPE_CHECKING:
    from collections.abc import Iterable

    from faultwire.dice import FaultDice
    from faultwire.events import Action, Chunk, Exchange


class RstStream(Fault):
    """Abort one call of an HTTP/2 connection.

    What it does:
        Resets the call's stream (RST_STREAM) with `code`, while the connection and its other calls go on.
        `before_headers` does so once the request is there, and upstream is never called; `after_headers`
        delivers the response head; `{after_bytes: N}` N bytes of the body, and `after_events: N` so many
        events of a stream. What is no longer than that is left alone. HTTP/1.1 has no streams.

    Why agents break:
        The code says what a client may do, and few look at it: REFUSED_STREAM means that nobody has looked
        at the call, so that it may be repeated, CANCEL and INTERNAL_ERROR that it may have been carried
        out.

    Real-world source:
        Servers that shed load (REFUSED_STREAM, ENHANCE_YOUR_CALM), gateways whose upstream failed in the
        middle of an answer (INTERNAL_ERROR, Envoy and nginx), deadlines (CANCEL). gRPC makes UNAVAILABLE,
        RESOURCE_EXHAUSTED, INTERNAL and CANCELLED of them.

    Example:
        faults:
          - rst_stream: {code: INTERNAL_ERROR, after_events: 3}
            on: {kind: llm, stream: true}
    """

    name: ClassVar[str] = "rst_stream"
    site: ClassVar[Site] = "connection"
    needs: ClassVar[Need] = Need.EVENTS

    code: Annotated[Code, Field(description="the reason that is given")] = "INTERNAL_ERROR"
    at: At = "before_headers"
    after_events: Annotated[
        int | None, Field(ge=0, le=1_000_000, description="or: how many events arrive")
    ] = None

    @model_validator(mode="after")
    def _one_place(self) -> Self:
        if self.after_events is not None and "at" in self.model_fields_set:
            raise ValueError("found both of `after_events` and `at`, expected one")
        return self

    @property
    def final(self) -> bool:
        """Nothing comes after a reset before the headers."""
        return self.at == "before_headers" and self.after_events is None

    def inapplicable(self, exchange: Exchange) -> str | None:
        """Only where there are frames, and events only in a stream."""
        why = super().inapplicable(exchange) or no_frames(exchange)
        return why or (no_stream(exchange) if self.after_events is not None else None)

    def start(self, exchange: Exchange, dice: FaultDice) -> Mutator:
        """Start before the first byte that the agent gets."""
        if self.after_events is not None:
            return _AfterEvents(self.code, self.after_events)
        if self.at == "before_headers":
            return _Before(self.code)
        return _AfterBytes(self.code, self.at.after_bytes if isinstance(self.at, AfterBytes) else 0)


class _Ending(Mutator):
    def __init__(self, code: Code) -> None:
        self._code = code

    def _reset(self, place: str) -> Action:
        self.effect = f"stream reset ({self._code}) {place}"
        return Reset(CODES[self._code])


class _Before(_Ending):
    def before(self) -> Iterable[Action]:
        yield self._reset("before the headers")


class _AfterBytes(_Ending):
    def __init__(self, code: Code, whole: int) -> None:
        super().__init__(code)
        self._whole = self._left = whole

    def feed(self, chunk: Chunk) -> Iterable[Action]:
        passed, self._left = chunk.data[: self._left], max(0, self._left - len(chunk.data))
        if passed:
            yield Send(passed)
        if len(passed) < len(chunk.data):
            yield self._ended()

    def finish(self) -> Iterable[Action]:
        if not self._whole:  # a response without a body has headers too
            yield self._ended()

    def _ended(self) -> Action:
        return self._reset(f"after {self._whole} bytes of the body" if self._whole else "after the headers")


class _AfterEvents(_Ending):
    def __init__(self, code: Code, most: int) -> None:
        super().__init__(code)
        self._most = most
        self._passed = 0

    def feed(self, chunk: Chunk) -> Iterable[Action]:
        if self._passed >= self._most:
            yield self._reset(f"after {self._passed} events")
        else:
            self._passed += 1
            yield Send(chunk.data)
