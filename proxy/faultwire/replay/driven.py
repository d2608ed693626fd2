"""The recorded requests to one agent, sent to it again, and its answers beside those that were recorded.

The reverse of a replay: the tape is the agent's callers. An id that the agent made anew stands in later
requests where the recorded one stood, so that a second turn names the task that the agent knows.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from faultwire import wire
from faultwire.errors import WireError
from faultwire.replay.explain_miss import DIFFERENCES, Difference, content, differences, dotted, excerpts
from faultwire.replay.volatile_values import only_minted, pairs
from faultwire.wire.framing import content_coding

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from faultwire.events import Delivery, Headers, Recorded, Request
    from faultwire.wire.classify import Site

FRAMING = frozenset(
    {"connection", "content-length", "expect", "host", "keep-alive", "proxy-authorization", "te", "trailer"}
    | {"transfer-encoding", "upgrade", "accept-encoding", "traceparent", "tracestate", "baggage"}
)
"""Header fields of a recorded request that belong to its connection or its run, and are not sent again."""


def requests_to(name: str, agents: Mapping[str, Site], exchanges: Iterable[Recorded]) -> list[Recorded]:
    """The exchanges in which others asked this agent, in order."""
    return [one for one in exchanges if wire.classify(one.request, {}, agents).agent == name]


@dataclass(slots=True)
class Caller:
    """What the tape's callers ask, in the ids of the agent that runs."""

    _ids: dict[str, str] = field(default_factory=dict)

    def request(self, recorded: Recorded) -> Request:
        """The recorded request as it is to be sent now."""
        request = recorded.request
        headers: Headers = tuple(
            (name, self._in_new_ids(value)) for name, value in request.headers if name.lower() not in FRAMING
        )
        body = self._in_new_ids((request.body or b"").decode("utf-8", "surrogateescape"))
        return replace(
            request,
            path=self._in_new_ids(request.path),
            headers=headers,
            body=body.encode("utf-8", "surrogateescape"),
        )

    def compare(self, recorded: Recorded, status: int, body: bytes) -> tuple[Difference, ...]:
        """Where an answer differs from the recorded one in more than ids and instants, which are learned."""
        answer = recorded.upstream or recorded.delivered
        if answer is None:
            return (Difference("status", "(no answer was recorded)", str(status)),)
        found = [Difference("status", str(answer.status), str(status))] if answer.status != status else []
        for path, old, new in differences(content(_plain(answer), ""), content(body, "")):
            if only_minted(old, new):
                self._ids.update(pairs(old, new) or ())
            else:
                found.append(Difference(dotted(path), *excerpts(old, new)))
        return tuple(found[:DIFFERENCES])

    def _in_new_ids(self, text: str) -> str:
        for old, new in self._ids.items():
            text = text.replace(old, new)
        return text


def _plain(answer: Delivery) -> bytes:
    try:
        return content_coding.at_once(answer.body, answer.headers)[0]
    except WireError:
        return answer.body


def as_json(recorded: Recorded, found: tuple[Difference, ...]) -> dict[str, Any]:
    """One request with what came of it, for reports."""
    return {
        "session": recorded.session,
        "number": recorded.number,
        "request": f"{recorded.request.method} {recorded.request.url}",
        "same": not found,
        "differences": [{"path": one.path, "recorded": one.recorded, "answered": one.asked} for one in found],
    }
