"""`cut_stream`: the stream breaks off."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Annotated, ClassVar, Literal, Self

from pydantic import Field, model_validator

from faultwire.errors import WireError
from faultwire.events import Cut, Send
from faultwire.faults._api import Fault, Mutator, Need, Site
from faultwire.faults._wire import no_answer, no_stream, protocol_of

if TYPE_CHECKING:
    from collections.abc import Iterable

    from faultwire.dice import FaultDice
    from faultwire.events import Action, Chunk, Exchange
    from faultwire.wire.protocol import Protocol

Inside = Literal["tool_arguments", "text"]


class CutStream(Fault):
    """Break a live stream off before its closing event.

    What it does:
        Delivers `after_events` events, or everything up to the middle of the first tool call's
        arguments (`inside: tool_arguments`) or of the text (`inside: text`), then closes the
        connection without ending the message. Over HTTP/2 it resets the stream, 0.2 s after the last
        event, since some clients (Java's) drop what they have not read when the reset arrives. The
        closing event never arrives, however long the stream is.

    Why agents break:
        Nothing repeats a stream that has begun. What has arrived looks like an answer: half a
        sentence is shown as the whole, half of a tool call's arguments does not parse.

    Real-world source:
        Proxies that close long connections, deployments in the middle of an answer, mobile networks.
        SDKs raise a bare transport error, outside of the errors that they document.

    Example:
        faults:
          - cut_stream: {inside: tool_arguments}
            on: {kind: llm}
            trigger: {max_times: 1}
    """

    name: ClassVar[str] = "cut_stream"
    site: ClassVar[Site] = "stream"
    needs: ClassVar[Need] = Need.EVENTS

    after_events: Annotated[int | None, Field(ge=0, le=1_000_000, description="how many arrive")] = None
    inside: Annotated[Inside | None, Field(description="or: in the middle of what")] = None

    @model_validator(mode="after")
    def _one_place(self) -> Self:
        if (self.after_events is None) == (self.inside is None):
            found = "neither" if self.inside is None else "both"
            raise ValueError(f"found {found} of `after_events` and `inside`, expected one")
        return self

    def inapplicable(self, exchange: Exchange) -> str | None:
        """Only streams can be cut, and only a model's has an inside."""
        why = super().inapplicable(exchange) or no_stream(exchange)
        return why or (no_answer(exchange) if self.inside else None)

    def start(self, exchange: Exchange, dice: FaultDice) -> Mutator:
        """Start before the first event."""
        protocol = protocol_of(exchange)
        if self.after_events is not None:
            return _After(self.after_events, protocol)
        return _Inside(self.inside or "text", protocol) if protocol else Mutator()


class _After(Mutator):
    def __init__(self, after_events: int, protocol: Protocol | None) -> None:
        self._left = after_events
        self._protocol = protocol
        self._passed = 0

    def feed(self, chunk: Chunk) -> Iterable[Action]:
        closing = self._protocol is not None and self._protocol.is_terminal(chunk.data)
        if self._passed >= self._left or closing:
            yield self._cut()
        else:
            self._passed += 1
            yield Send(chunk.data)

    def finish(self) -> Iterable[Action]:
        yield self._cut()

    def _cut(self) -> Action:
        self.effect = f"stream cut after {self._passed} events"
        return Cut(clean=False)


class _Inside(Mutator):
    def __init__(self, inside: Inside, protocol: Protocol) -> None:
        self._inside = inside
        self._reader = protocol.reader()

    def feed(self, chunk: Chunk) -> Iterable[Action]:
        begun, whole = self._read(chunk.data)
        if not whole:
            yield Send(chunk.data)
        if begun:
            self.effect = f"stream cut inside {'the text' if self._inside == 'text' else 'tool arguments'}"
            yield Cut(clean=False)

    def _read(self, event: bytes) -> tuple[bool, bool]:
        """Has the place been reached, and would this event complete it?"""
        try:
            self._reader.feed(event)
        except WireError:
            return False, False
        view = self._reader.view()
        if self._inside == "text":
            return bool(view.text), False
        written = next((call.arguments for call in view.tool_calls if call.arguments), "")
        return bool(written), _parses(written)


def _parses(text: str) -> bool:
    try:
        json.loads(text)
    except ValueError:
        return False
    return True
