"""`model_answer`: a model answers with a body that is given word by word."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, ClassVar

from pydantic import Field

from faultwire.events import Kind
from faultwire.faults._api import Fault, Mutator, Site
from faultwire.faults._mutators import Answered, Replaced
from faultwire.faults._wire import protocol_of
from faultwire.wire.editing import answers as http_answers

if TYPE_CHECKING:
    from faultwire.dice import FaultDice
    from faultwire.events import Exchange


class ModelAnswer(Fault):
    """Answer a call to a model with a body of your own.

    What it does:
        The model is not called. `body` is sent byte by byte with status 200, so that it may be any text,
        also none that is JSON; as a stream of events where the request asks for one.

    Why agents break:
        Code reads the first of the choices, its message and the arguments of its calls as if they were
        always there. No choice at all, a `null` where a text was, arguments that are a list: the error
        comes between the SDK and the agent, where nobody catches it.

    Real-world source:
        Gateways and local servers that resemble an API, small models, new members of an answer. `faultwire
        fuzz` writes this entry.

    Example:
        faults:
          - model_answer: {body: '{"id": "x", "object": "chat.completion", "choices": []}'}
            on: {kind: llm}
            trigger: {calls: [2]}
    """

    name: ClassVar[str] = "model_answer"
    site: ClassVar[Site] = "response"
    kinds: ClassVar[tuple[Kind, ...]] = ("llm",)
    answers: ClassVar[bool] = True

    body: Annotated[str, Field(description="the body")]

    def inapplicable(self, exchange: Exchange) -> str | None:
        """A WebSocket has no body."""
        protocol = protocol_of(exchange)
        socket = protocol is not None and protocol.socket
        return super().inapplicable(exchange) or ("a WebSocket has no body" if socket else None)

    def non_default_settings(self) -> dict[str, Any]:
        """Without the body: each line of the ledger would repeat it."""
        return {"body": f"{len(self._data)} bytes"}

    @property
    def final(self) -> bool:
        """Its answer is the only one."""
        return True

    @property
    def _data(self) -> bytes:
        return self.body.encode("utf-8", "replace")

    def start(self, exchange: Exchange, dice: FaultDice) -> Mutator:
        """Make up the answer."""
        streams = exchange.view is not None and exchange.view.stream
        kind = "text/event-stream" if streams else "application/json"
        answer = http_answers.answer(200, self._data, kind)
        effect = f"answered {len(self._data)} bytes of the profile's"
        return Answered(answer, effect) if exchange.response is None else Replaced(answer, effect)
