"""What the exchanges of a history say, read once for all checks of the same history."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from decimal import Decimal
from typing import TYPE_CHECKING

from faultwire import wire
from faultwire.checks._api import quoted
from faultwire.checks._once import once
from faultwire.events import Usage
from faultwire.wire.transcript.fetched_answers import counted_elsewhere, is_fetch

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from faultwire.events import History, Recorded, RequestView
    from faultwire.wire import Transcript

_LIGHT = 1 << 18
"""Bytes of an exchange's bodies; what is heavier is read anew for each check: memory stays bounded."""
PLACE = 200
"""Characters of a place that are shown."""
_MOST = 1 << 26
"""Bytes of bodies whose reading is kept."""


@dataclass(slots=True)
class _Read:
    """What was read of a history: `light` by the identity of its exchanges, which the history holds."""

    light: dict[int, Transcript | None] = field(default_factory=dict)
    models: list[tuple[Recorded, Transcript]] = field(default_factory=list)
    whole: bool = True
    """Is it all? Else something was too heavy to be kept."""


@once
def _read(history: History) -> _Read:
    """What each request holds of those before it is read once, see `wire.ConversationHistory`."""
    read, earlier, left = _Read(), wire.ConversationHistory(), _MOST
    for exchange in history.exchanges:
        if exchange.kind != "llm" or exchange.protocol is None:
            continue
        size = _size(exchange)
        left -= size
        if size > _LIGHT or left < 0:
            read.whole = False
            continue
        transcript = wire.transcript_of(exchange, earlier=earlier)
        read.light[id(exchange)] = transcript
        if transcript is not None:
            read.models.append((exchange, transcript))
    return read


def transcript_of(history: History, exchange: Recorded) -> Transcript | None:
    """What an exchange of a history says where it is one with a model; None for one that is none."""
    if exchange.kind != "llm" or exchange.protocol is None:
        return None
    light = _read(history).light
    found = light[id(exchange)] if id(exchange) in light else wire.transcript_of(exchange)
    if found is None or exchange.number not in _counted_elsewhere(history):
        return found
    return replace(found, charged=Usage(0, 0), cost=Decimal(0), prices_as_of=None)


def models(history: History) -> Sequence[tuple[Recorded, Transcript]]:
    """The exchanges with models that can be read, in order."""
    read = _read(history)
    if read.whole and not _counted_elsewhere(history):
        return read.models
    pairs = ((exchange, transcript_of(history, exchange)) for exchange in history.exchanges)
    return tuple((exchange, transcript) for exchange, transcript in pairs if transcript is not None)


@once
def _counted_elsewhere(history: History) -> frozenset[int]:
    """The exchanges whose usage counts at another one: only where an answer was fetched there are any."""
    if not any(is_fetch(exchange) for exchange in history.exchanges):
        return frozenset()
    light = _read(history).light
    every = (
        (exchange, light[id(exchange)] if id(exchange) in light else wire.transcript_of(exchange))
        for exchange in history.exchanges
        if exchange.kind == "llm" and exchange.protocol is not None
    )
    return counted_elsewhere((exchange, found) for exchange, found in every if found is not None)


def as_received(history: History) -> Iterator[tuple[Recorded, RequestView]]:
    """The requests that faults changed, as models got them: with the results that stood in for others."""
    by_number = dict(history.forwarded)
    for exchange in history.exchanges if by_number else ():
        sent = by_number.get(exchange.number)
        if sent is None or exchange.kind != "llm":
            continue
        transcript = wire.transcript_of(replace(exchange, request=sent))
        if transcript is not None and transcript.request is not None:
            yield exchange, transcript.request


def charged(history: History, exchange: Recorded) -> Usage | None:
    """The tokens that the provider counted, whatever a fault left of its answer."""
    if exchange.messages and exchange.upstream != exchange.delivered:
        # of a socket's messages those count that reached the agent
        transcript = wire.transcript_of(replace(exchange, delivered=exchange.upstream))
        return transcript.answer.usage if transcript is not None and transcript.answer is not None else None
    transcript = transcript_of(history, exchange)
    if exchange.messages:
        return transcript.answer.usage if transcript is not None and transcript.answer is not None else None
    return transcript.charged if transcript is not None else None


def texts(exchange: Recorded) -> str:
    """The body of a request as text, whatever it is; bytes that are none are replaced."""
    return (exchange.request.body or b"").decode("utf-8", "replace")


def place(exchange: Recorded) -> str:
    """Host and path without the query, for explanations."""
    return f"{exchange.request.host}{exchange.request.path.split('?', 1)[0]}"


def quoted_place(exchange: Recorded) -> str:
    """The same in backticks. A path is one word: what is too long to be shown whole is left out."""
    whole = place(exchange)
    return quoted(whole, PLACE) if len(whole) <= PLACE else quoted(f"{exchange.request.host}/ …", PLACE)


def _size(exchange: Recorded) -> int:
    delivered = exchange.delivered
    return len(exchange.request.body or b"") + (len(delivered.body) if delivered is not None else 0)
