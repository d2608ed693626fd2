"""Agents of the mock, reached by A2A (0.3 and 1.0, JSON-RPC and HTTP+JSON).

Every path is an agent of its own: `/writer/.well-known/agent-card.json` is the card of `writer`, and
`/writer` where it is called.
"""

from __future__ import annotations

from collections import OrderedDict
from typing import TYPE_CHECKING, Any

import orjson

from faultwire import wire
from faultwire.errors import WireError
from faultwire.events import Response, header
from faultwire.mock import _a2a_words
from faultwire.mock._api import Answer, Conversation, Refused, Reply
from faultwire.wire.a2a import errors as a2a_errors
from faultwire.wire.a2a.http import A2AHttp
from faultwire.wire.a2a.jsonrpc import A2A, AgentProtocol, is_card
from faultwire.wire.a2a.vocabulary import CARDS, EXTENDED, version
from faultwire.wire.editing.answers import made_id
from faultwire.wire.framing import sse
from faultwire.wire.recognition import recognise as recognition

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from faultwire.events import Request
    from faultwire.mock._a2a_words import Flavour, Object, Task
    from faultwire.wire.a2a.errors import Trouble
    from faultwire.wire.a2a.view import A2ARequest

KEPT = 256
"""Tasks that are remembered."""

_RESTS = frozenset(("completed", "failed", "canceled", "rejected"))
_SAME = {
    "message/send": "SendMessage",
    "message/stream": "SendStreamingMessage",
    "tasks/get": "GetTask",
    "tasks/list": "ListTasks",
    "tasks/cancel": "CancelTask",
    "tasks/resubscribe": "SubscribeToTask",
    "agent/getAuthenticatedExtendedCard": "GetExtendedAgentCard",
}
"""Version 0.3's methods by the names of version 1.0."""


class Agents:
    """The agents behind all paths, and the tasks that they were given."""

    def __init__(self) -> None:
        self._tasks: OrderedDict[str, Task] = OrderedDict()

    def protocol_of(self, request: Request) -> AgentProtocol | None:
        """The binding that a request is of, None where it is for no agent."""
        for protocol in (A2A(), A2AHttp()):
            if request.method in protocol.methods and (
                protocol.recognise(request) or protocol.recognise_peer(request)
            ):
                return protocol
        return None

    def called(self, request: Request) -> bool:
        """Does a request say by itself that it is for an agent? MCP has methods of similar names."""
        return A2A().recognise(request)

    def answer(self, request: Request, replying: Callable[[Conversation], Reply]) -> Answer:
        """The answer. Raises Refused with the protocol's own error."""
        protocol = self.protocol_of(request)
        if protocol is None:
            raise Refused(wire.protocol(A2A.name).error(404))
        if request.method == "GET" and is_card(request):
            return _json(_card(request))
        try:
            asked = protocol.asked(request)
        except WireError as error:
            raise Refused(_trouble(protocol, None, "invalid_request", error.message)) from None
        return _Call(self, request, protocol, asked, replying).answer()

    def remember(self, task: Task) -> None:
        """Keep a task for those who ask for it later."""
        self._tasks[task.id] = task
        self._tasks.move_to_end(task.id)
        while len(self._tasks) > KEPT:
            self._tasks.popitem(last=False)

    def known(self, ident: str) -> Task | None:
        """The task of that id."""
        return self._tasks.get(ident)

    def all(self) -> tuple[Task, ...]:
        """Every task, oldest first."""
        return tuple(self._tasks.values())


class _Call:
    """One request to an agent."""

    def __init__(
        self,
        agents: Agents,
        request: Request,
        protocol: AgentProtocol,
        asked: A2ARequest,
        replying: Callable[[Conversation], Reply],
    ) -> None:
        self._agents = agents
        self._request = request
        self._protocol = protocol
        self._asked = asked
        self._replying = replying
        rest = protocol.name == A2AHttp.name
        path = recognition.bare_path(request)
        old = "/v1/" in path if rest else version(request, asked.method) == "0.3"
        self._flavour: Flavour = "1.0" if not old else "rest-0.3" if rest else "rpc-0.3"

    def answer(self) -> Answer:
        match _SAME.get(self._asked.method, self._asked.method):
            case "SendMessage" | "SendStreamingMessage":
                return self._send()
            case "GetTask":
                return self._whole(_a2a_words.task(self._flavour, self._task()))
            case "ListTasks":
                tasks = [_a2a_words.task(self._flavour, task) for task in self._agents.all()]
                return self._whole({"tasks": tasks, "nextPageToken": "", "totalSize": len(tasks)})
            case "CancelTask":
                return self._cancel()
            case "SubscribeToTask":
                task = self._task()
                result = _a2a_words.task(self._flavour, task)
                return self._stream([_a2a_words.wrapped(self._flavour, "task", result)], Reply())
            case "GetExtendedAgentCard":
                return self._whole(_card(self._request))
        raise self._refused("push_not_supported")

    def _send(self) -> Answer:
        if not self._asked.text:
            raise self._refused("invalid_params", "the message has no text")
        view = self._asked.view()
        context = self._asked.context_id or made_id("ctx-", "a2a", self._asked.text, length=12)
        ident = self._asked.task_id or made_id("task-", "a2a", context, self._asked.text, length=12)
        reply = self._replying(Conversation(ident, view))
        if reply.failure is not None:
            failed = reply.failure
            raise Refused(
                self._protocol.error_to(
                    self._request,
                    None,
                    failed.status,
                    message=failed.message,
                    retry_after_s=failed.retry_after_s,
                )
            )
        state = _a2a_words.Task(ident, context, reply.state, reply.text, self._asked.text)
        self._agents.remember(state)
        if self._asked.stream:
            return self._stream(_a2a_words.events(self._flavour, state), reply)
        body = _a2a_words.task(self._flavour, state)
        return self._whole(_a2a_words.wrapped(self._flavour, "task", body), reply.first_event_delay_ms or 0)

    def _cancel(self) -> Answer:
        task = self._task()
        if task.state in _RESTS:
            raise self._refused("task_not_cancelable")
        task = _a2a_words.Task(task.id, task.context_id, "canceled", task.text, task.asked)
        self._agents.remember(task)
        return self._whole(_a2a_words.task(self._flavour, task))

    def _task(self) -> Task:
        found = self._agents.known(self._asked.task_id)
        if found is None:
            raise self._refused("task_not_found")
        return found

    def _whole(self, value: Object, delay_ms: int = 0) -> Answer:
        return _json(self._framed(value), delay_ms)

    def _stream(self, events: Iterable[Object], reply: Reply) -> Answer:
        framed = tuple(sse.write(orjson.dumps(self._framed(event))) for event in events)
        headers = (("content-type", "text/event-stream"), ("cache-control", "no-store"))
        return Answer(200, headers, b"", framed, reply.first_event_delay_ms or 0, reply.chunk_delay_ms or 0)

    def _framed(self, value: Object) -> Object:
        if self._protocol.name == A2AHttp.name:
            return value
        return {"jsonrpc": "2.0", "id": self._asked.ident, "result": value}

    def _refused(self, trouble: Trouble, message: str | None = None) -> Refused:
        return Refused(_trouble(self._protocol, self._asked.ident, trouble, message))


def _trouble(protocol: AgentProtocol, ident: Any, trouble: Trouble, message: str | None) -> Response:
    if protocol.name == A2AHttp.name:
        return a2a_errors.rest(trouble, message)
    return a2a_errors.rpc(trouble, ident, message)


def _card(request: Request) -> Object:
    """The card of the agent at this path; its name is the path's last part, else the host's first."""
    path = recognition.bare_path(request)
    for ending in (*CARDS, *EXTENDED):
        path = path.removesuffix(ending)
    where = header(request.headers, "host") or request.host
    first = where.partition(":")[0].partition(".")[0]
    name = path.rpartition("/")[2] or (first if first.isascii() and first.isalpha() else "")
    named = "mock-agent" if name in ("", "localhost") else name
    return _a2a_words.card(named, f"{request.scheme}://{where}{path or '/'}")


def _json(value: Object, delay_ms: int = 0) -> Answer:
    return Answer(200, (("content-type", "application/json"),), orjson.dumps(value), None, delay_ms)
