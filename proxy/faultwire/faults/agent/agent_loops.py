"""`agent_loops`: a delegate asks back in place of finishing."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, ClassVar

from pydantic import Field

from faultwire.errors import WireError
from faultwire.events import Kind, Send
from faultwire.faults._api import Fault, Mutator, Need, Site
from faultwire.faults._wire import no_answer
from faultwire.wire import json_bytes
from faultwire.wire.a2a import vocabulary as a2a
from faultwire.wire.a2a.jsonrpc import is_card
from faultwire.wire.framing import sse

if TYPE_CHECKING:
    from collections.abc import Iterable

    from faultwire.dice import FaultDice
    from faultwire.events import Action, Chunk, Exchange


class AgentLoops(Fault):
    """Let another agent ask back, whatever it is told.

    What it does:
        The agent does its work, and its answer becomes a question: all that it says is `question`, and a task
        that would rest as `completed` rests as `input-required`, in the words of its version, whole or
        streamed. As long as it fires the agent asks the same again, so that a caller which always answers
        never ends. Other states, ids and files stay.

    Why agents break:
        Two polite agents talk for ever. Each turn looks like progress, every call succeeds, and only the bill
        and the time show it; few callers count turns or notice that a question comes again.

    Real-world source:
        Delegation loops between agents with unclear responsibilities, confirmations that are never accepted.

    Example:
        faults:
          - agent_loops: {question: "Which format do you want?"}
            on: {edge: "planner->writer"}
    """

    name: ClassVar[str] = "agent_loops"
    site: ClassVar[Site] = "response"
    needs: ClassVar[Need] = Need.BODY | Need.EVENTS
    kinds: ClassVar[tuple[Kind, ...]] = ("agent",)
    protocols: ClassVar[tuple[str, ...]] = ("a2a", "a2a_http")

    question: Annotated[str, Field(min_length=1, max_length=10_000, description="what it asks each time")] = (
        "I need one more detail before I can go on. Please confirm what exactly you want."
    )

    def inapplicable(self, exchange: Exchange) -> str | None:
        """Only answers to messages."""
        if is_card(exchange.request):
            return "a card is read, and nothing said"
        return super().inapplicable(exchange) or no_answer(exchange)

    def start(self, exchange: Exchange, dice: FaultDice) -> Mutator:
        """Start before the first byte."""
        return _AskingBack(self.question, ("result",) if exchange.protocol == "a2a" else ())


class _AskingBack(Mutator):
    def __init__(self, question: str, root: tuple[str, ...]) -> None:
        self._question, self._root = question, root

    def feed(self, chunk: Chunk) -> Iterable[Action]:
        """Each answer or event with the question in it."""
        if chunk.unit == "bytes":
            yield Send(chunk.data)
            return
        fields = sse.fields(chunk.data) if chunk.unit == "event" else None
        data = chunk.data if fields is None else fields.data
        try:
            asked = self._asked(data)
        except WireError:
            asked = data
        if asked != data:
            self.effect = "what the agent said became a question"
        yield Send(asked if fields is None or asked == data else sse.with_data(chunk.data, asked))

    def _asked(self, data: bytes) -> bytes:
        payload = json_bytes.member(json_bytes.load_object(data), *self._root)
        found = a2a.utterance(payload, self._root)
        if found is None:
            return data
        places = [path for path, _ in a2a.texts(found)]
        for path in places:
            words = self._question if path == places[-1] else ""
            data = json_bytes.put(data, path, json_bytes.dump(words))
        status = found.value.get("status")
        if a2a.state(status) == "completed":
            state = json_bytes.string(json_bytes.member(status, "state"))
            other = "TASK_STATE_INPUT_REQUIRED" if state.startswith("TASK_STATE_") else "input-required"
            data = json_bytes.put(data, (*found.path, "status", "state"), json_bytes.dump(other))
        return data
