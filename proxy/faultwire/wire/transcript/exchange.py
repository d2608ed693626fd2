"""The transcript of a recorded exchange: messages, price and timing."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from faultwire.errors import WireError
from faultwire.events import Response
from faultwire.wire.recognition import placeholders
from faultwire.wire.recognition.recognise import provider_of
from faultwire.wire.registry import protocols
from faultwire.wire.transcript import prices as _prices, websocket as websocket_transcript
from faultwire.wire.transcript.response import request_id, response_view

if TYPE_CHECKING:
    from decimal import Decimal

    from faultwire.events import Delivery, Recorded, RequestView, ResponseView, Turn, Usage
    from faultwire.wire.conversation_history import ConversationHistory
    from faultwire.wire.protocol import Protocol
    from faultwire.wire.transcript.prices import Prices


_LOCAL = frozenset(("localhost", "127.0.0.1", "::1"))
_NOT_KEPT = "the tape holds a placeholder in place of this body, which could not be searched for secrets"


@dataclass(frozen=True, slots=True)
class Transcript:
    """What a model was asked and what it answered.

    `request` is None where the agent's request could not be read, `answer` where nothing readable
    came back; `problem` then says why. `first_event_ms` is from the start of the exchange to the first
    bytes of the answer that the agent got, over a WebSocket from its last message to the first words;
    `cost` is in dollars, None where the price is not known.
    """

    provider: str | None
    request: RequestView | None
    answer: ResponseView | None
    problem: str | None = None
    first_event_ms: float | None = None
    cost: Decimal | None = None
    charged: Usage | None = None
    """What the provider counted, whatever a fault left of its answer."""
    prices_as_of: str | None = None
    """The day of the table that `cost` is from; None without a cost."""
    answer_id: str | None = None
    """What the provider calls its answer, where that can be fetched again."""

    @property
    def model(self) -> str:
        """The model that answered, else the one that was asked for."""
        return (self.answer.model if self.answer else "") or (self.request.model if self.request else "")

    @property
    def new_turns(self) -> tuple[Turn, ...]:
        """The turns after the model's last word: what this request adds to the conversation."""
        turns = self.request.turns if self.request else ()
        last = max((at for at, turn in enumerate(turns) if turn.role == "assistant"), default=-1)
        return turns[last + 1 :]


def transcript_of(
    recorded: Recorded, prices: Prices | None = None, *, earlier: ConversationHistory | None = None
) -> Transcript | None:
    """The transcript of an exchange with a model, an agent or a tool's server; None where there is none.

    Who reads the exchanges of one session in order hands the same `earlier` to each: what one request and
    the next hold alike is then read once. The result is the same.
    """
    protocol = protocols().get(recorded.protocol or "")
    if protocol is None:
        return None
    problems: list[str] = []
    request = None
    try:
        sent = recorded.request
        request = protocol.transcript(sent) if earlier is None else protocol.transcript_after(sent, earlier)
        if request is None:
            return None
        if protocol.socket:
            request = websocket_transcript.asked(protocol, request, recorded.messages)
    except WireError as error:
        problems.append(f"request: {_why(error, recorded.request.body)}")
    answer = _answer(protocol, recorded, recorded.delivered, problems)
    model = (answer.model if answer else "") or (request.model if request else "")
    table = prices if prices is not None else _prices.current()
    # What the provider counted, not what a fault left of it: that is what is charged for.
    untouched = recorded.upstream is recorded.delivered or recorded.upstream == recorded.delivered
    same = untouched and not recorded.messages
    charged = answer if same else _answer(protocol, recorded, recorded.upstream, [])
    usage = charged.usage if charged else None
    vendor = _vendor(recorded)
    price = table.price(vendor, model) if vendor is not None else None
    cost = price.cost(usage) if price is not None and usage is not None else None
    return Transcript(
        provider=recorded.provider,
        request=request,
        answer=answer,
        problem="; ".join(problems) or None,
        first_event_ms=_first_event_ms(protocol, recorded),
        cost=cost,
        charged=usage,
        prices_as_of=price.as_of if price is not None and cost is not None else None,
        answer_id=charged.answer_id if charged else None,
    )


def _vendor(recorded: Recorded) -> str | None:
    """Whose prices hold: the provider that runs the host.

    A host that nobody is known to run has prices under its own name only, as a model of the same name costs
    otherwise there; one on this machine stands for the provider whose protocol it speaks.
    """
    host = recorded.request.host.lower().rstrip(".")
    if provider_of(host) is not None or host in _LOCAL:
        return recorded.provider
    return host


def _answer(
    protocol: Protocol, recorded: Recorded, delivery: Delivery | None, problems: list[str]
) -> ResponseView | None:
    if delivery is None:
        return None
    if protocol.socket and recorded.messages:
        is_delivered = delivery is recorded.delivered
        answered = websocket_transcript.answered(protocol, recorded.messages, delivered=is_delivered)
        head = Response(delivery.status, delivery.reason, delivery.headers)
        return replace(answered, request_id=request_id(protocol, head))
    try:
        answer = Response(delivery.status, delivery.reason, delivery.headers, delivery.body)
        return response_view(protocol, answer, recorded.request)
    except WireError as error:
        problems.append(f"answer with status {delivery.status}: {_why(error, delivery.body)}")
        return None


def _why(error: WireError, body: bytes | None) -> str:
    """Why a body cannot be read: it is not what it should be, or the tape did not keep it."""
    return _NOT_KEPT if placeholders.stands_for_all(body) else error.message


def _first_event_ms(protocol: Protocol, recorded: Recorded) -> float | None:
    if protocol.socket and recorded.messages:
        return websocket_transcript.first_ms(protocol, recorded.messages)
    delivery = recorded.delivered
    if delivery is None or recorded.upstream is None:
        return None  # an answer that no model gave has no first token
    return delivery.chunks[0][1] / 1e6 if delivery.chunks else None
