"""Reads the lineage of a session: which bytes of an answer stand in which later request.

Evidence is what an answer brought first. What stood in the agent's own texts before (its prompts, its tools'
addresses) proves nothing, whoever repeats it; what an exchange only gives back of its own request does not
come from it. A message that is sent again is history, an edge of its own kind.
"""

from __future__ import annotations

import re  # noqa: TID251 - the patterns are fixed
from dataclasses import dataclass
from heapq import heappop, heappush
from typing import TYPE_CHECKING

from faultwire import wire
from faultwire.lineage.conversation import Conversation
from faultwire.lineage.evidence import Evidence
from faultwire.lineage.messages import Passed, passed
from faultwire.lineage.model import OUTPUT, Graph, Node, Part
from faultwire.lineage.parts import Parts, Text, leaves_of, parts_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from faultwire.events import History, Recorded

_PLANTED = re.compile(r"the canary of exchange (\d+) is in the ")
_CANARY = re.compile(r"canary `([^`]{1,200})` came back")


def trace(history: History) -> Graph:
    """The lineage of one session, and of what the agent printed where that is known."""
    output = history.agent.answer if history.agent is not None else None
    return trace_exchanges(history.session, history.exchanges, output)


def trace_exchanges(session: str, exchanges: Iterable[Recorded], output: str | None = None) -> Graph:
    """The same of exchanges in the order of their numbers; each is read once."""
    nodes: list[Node] = []
    evidence = Evidence()
    conversation = Conversation(evidence)
    for recorded, step in _steps(exchanges):
        if isinstance(step, Passed):
            take = conversation.sent_message if step.by_agent else conversation.received_message
            take(recorded, step.texts)
        elif isinstance(step, Parts):
            nodes.append(Node(recorded.number, label(recorded), recorded.kind, step.unread))
            conversation.asked(recorded, step)
            _canaries(recorded, evidence)
        else:
            conversation.answered(recorded, step.parts)
    if output:
        conversation.printed(Text(Part(OUTPUT, "output", "the agent's output"), leaves_of(output)))
    return Graph(session, tuple(sorted(nodes, key=lambda node: node.number)), tuple(evidence.edges()))


def label(recorded: Recorded) -> str:
    """What an exchange is called in a graph: its tool, or its method and path."""
    if recorded.tool:
        return recorded.tool
    return f"{recorded.request.method} {recorded.request.path.partition('?')[0]}"


@dataclass(frozen=True, slots=True)
class _Answered:
    """The answer of an exchange came."""

    parts: Parts


def _steps(exchanges: Iterable[Recorded]) -> Iterator[tuple[Recorded, Parts | Passed | _Answered]]:
    """Requests, answers and messages in the order in which the agent sent and got them. A tape counts in
    whole milliseconds; of one millisecond, answers come first: bytes are the evidence, order only allows it.
    The messages of one WebSocket keep their order: who echoes answers after who speaks."""
    earlier = wire.ConversationHistory()
    waiting: list[tuple[float, bool, int, int, Recorded, Passed | _Answered]] = []
    for recorded in exchanges:
        while waiting and waiting[0][0] <= recorded.started_ms:
            yield heappop(waiting)[4:]
        parts = parts_of(recorded, earlier)
        if recorded.messages:
            messages, unread = passed(recorded)
            parts = Parts(parts.sent, (), "; ".join(filter(None, (parts.unread, unread))) or None)
            since = float(recorded.started_ms)
            for at, one in enumerate(messages):
                since = max(since, one.at_ms)
                heappush(waiting, (since, True, recorded.number, at, recorded, one))
        else:
            entry = (_first_bytes_ms(recorded), False, recorded.number, 0, recorded, _Answered(parts))
            heappush(waiting, entry)
        yield recorded, parts
    while waiting:
        yield heappop(waiting)[4:]


def _first_bytes_ms(recorded: Recorded) -> float:
    """When the agent could first read of the answer, in whole milliseconds."""
    delivered = recorded.delivered
    chunks = delivered.chunks if delivered is not None else ()
    lasted = chunks[0][1] / 1e6 if chunks else recorded.duration_ms
    return float(int(recorded.started_ms + lasted))


def _canaries(recorded: Recorded, evidence: Evidence) -> None:
    """The canaries that came back, as the ledger states."""
    for line in recorded.faults:
        planted, word = _PLANTED.search(line.reason), _CANARY.search(line.effect or "")
        if line.outcome != "returned" or planted is None or word is None:
            continue
        source = Part(int(planted[1]), "answer", f"the canary of `{line.id}`")
        evidence.add(source, Part(recorded.number, "request", "the request"), "canary", "canary", word[1])
