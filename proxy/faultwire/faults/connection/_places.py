"""Where in an exchange a connection ends, for every fault that ends one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

from faultwire.events import Send
from faultwire.faults._api import Mutator

if TYPE_CHECKING:
    from collections.abc import Iterable

    from faultwire.events import Action, Chunk, Exchange


class AfterBytes(BaseModel):
    """A place in the body."""

    model_config = ConfigDict(frozen=True, extra="forbid", hide_input_in_errors=True)

    after_bytes: Annotated[int, Field(ge=1, le=1_000_000_000)]


At = Annotated[
    Literal["before_headers", "after_headers"] | AfterBytes,
    Field(description="where the exchange is aborted"),
]


def ended(
    at: Literal["before_headers", "after_headers"] | AfterBytes, end: Action, word: str, exchange: Exchange
) -> Mutator:
    """What ends the exchange there; over HTTP/2 it ends its stream alone."""
    effect = "HTTP/2 stream reset" if exchange.http2 else f"connection {word}"
    if at == "before_headers":
        return _Before(end, effect)
    return _During(at.after_bytes if isinstance(at, AfterBytes) else 0, end, effect)


class _Before(Mutator):
    def __init__(self, end: Action, effect: str) -> None:
        self._end = end
        self._effect = effect

    def before(self) -> Iterable[Action]:
        self.effect = f"{self._effect} before the headers"
        yield self._end


class _During(Mutator):
    def __init__(self, left: int, end: Action, effect: str) -> None:
        self._whole = left
        self._left = left
        self._end = end
        self._effect = effect

    def feed(self, chunk: Chunk) -> Iterable[Action]:
        passed, self._left = chunk.data[: self._left], max(0, self._left - len(chunk.data))
        if passed:
            yield Send(passed)
        if len(passed) < len(chunk.data):
            yield self._ending()

    def finish(self) -> Iterable[Action]:
        if not self._whole:  # a response without a body has headers too
            yield self._ending()

    def _ending(self) -> Action:
        place = f"{self._whole} bytes of the body" if self._whole else "the headers"
        self.effect = f"{self._effect} after {place}"
        return self._end
