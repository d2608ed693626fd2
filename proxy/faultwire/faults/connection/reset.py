"""`reset`: the connection is aborted."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, ClassVar, Literal

from pydantic import BaseModel, ConfigDict, Field

from faultwire import events
from faultwire.faults._api import Fault, Mutator, Site

if TYPE_CHECKING:
    from collections.abc import Iterable

    from faultwire.dice import FaultDice
    from faultwire.events import Action, Chunk, Exchange


class AfterBytes(BaseModel):
    """A place in the body."""

    model_config = ConfigDict(frozen=True, extra="forbid", hide_input_in_errors=True)

    after_bytes: Annotated[int, Field(ge=1, le=1_000_000_000)]


class Reset(Fault):
    """Abort the connection with a TCP reset.

    What it does:
        Ends the connection with RST, not with an orderly close. `before_headers` does so once the
        request is there, and upstream is never called; `after_headers` delivers the response head and
        no byte of the body; `{after_bytes: N}` delivers N bytes of the body. A body that is no longer
        than N bytes is left alone.

    Why agents break:
        A call that was never answered may still have been carried out: an agent that repeats it pays
        or books twice. After the head has arrived SDKs no longer retry: the error reaches code
        that only expected error statuses.

    Real-world source:
        Load balancers that drop idle or draining connections, crashing workers, NAT tables that
        forget. Official SDKs report a connection error after three tries before the head, and a bare
        transport error in the middle of a stream.

    Example:
        faults:
          - reset: {at: {after_bytes: 200}}
            on: {kind: llm, stream: true}
            trigger: {probability: 0.2}
    """

    name: ClassVar[str] = "reset"
    site: ClassVar[Site] = "connection"

    at: Annotated[
        Literal["before_headers", "after_headers"] | AfterBytes,
        Field(description="where the exchange is aborted"),
    ] = "before_headers"

    def start(self, exchange: Exchange, dice: FaultDice) -> Mutator:
        """Start before the first byte; where the headers are already there, right after them."""
        if self.at == "before_headers" and exchange.response is None:
            return _Before()
        return _During(self.at.after_bytes if isinstance(self.at, AfterBytes) else 0)


class _Before(Mutator):
    def before(self) -> Iterable[Action]:
        self.effect = "connection reset before the headers"
        yield events.Reset()


class _During(Mutator):
    def __init__(self, left: int) -> None:
        self._whole = left
        self._left = left

    def feed(self, chunk: Chunk) -> Iterable[Action]:
        passed, self._left = chunk.data[: self._left], max(0, self._left - len(chunk.data))
        if passed:
            yield events.Send(passed)
        if len(passed) < len(chunk.data):
            yield self._reset()

    def finish(self) -> Iterable[Action]:
        if not self._whole:  # a response without a body has headers too
            yield self._reset()

    def _reset(self) -> Action:
        place = f"{self._whole} bytes of the body" if self._whole else "the headers"
        self.effect = f"connection reset after {place}"
        return events.Reset()
