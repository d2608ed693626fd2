"""What a request to an agent asks, and what the agent answers, in A2A."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from faultwire.errors import WireError
from faultwire.events import RequestView, ResponseView, Turn
from faultwire.wire import json_bytes
from faultwire.wire.a2a import vocabulary as a2a_vocabulary

if TYPE_CHECKING:
    from faultwire.events import Path


@dataclass(frozen=True, slots=True)
class A2ARequest:
    """A request. `text` is what the message says, empty where none is sent; `ident` is JSON-RPC's id."""

    method: str
    stream: bool
    role: str = "user"
    text: str = ""
    message_id: str = ""
    task_id: str = ""
    context_id: str = ""
    ident: Any = None

    def view(self) -> RequestView:
        """As every protocol tells it: one turn."""
        turns = (Turn(self.role, self.text),) if self.message_id or self.text else ()
        return RequestView(model="", stream=self.stream, turns=turns)


@dataclass(frozen=True, slots=True)
class Artifact:
    """One thing that a task made."""

    id: str
    name: str
    text: str


@dataclass(frozen=True, slots=True)
class A2AResponse:
    """An answer. `state` is the task's (`completed`), or None where a message came without a task."""

    state: str | None = None
    text: str = ""
    task_id: str = ""
    context_id: str = ""
    artifacts: tuple[Artifact, ...] = ()
    error: str | None = None
    code: int | None = None
    complete: bool = False
    ident: str | None = None
    """JSON-RPC's id of the request that is answered."""

    def view(self) -> ResponseView:
        """As every protocol tells it: what a task made goes before what it says of itself, and the state in
        which it rests is why it ended."""
        made = "".join(artifact.text for artifact in self.artifacts)
        ended = self.state if self.state not in a2a_vocabulary.OPEN else None
        return ResponseView(
            text=made or self.text,
            finish_reason=ended,
            error=self.error,
            complete=self.complete,
            request_id=self.ident,
        )


def message(value: Any, method: str, *, stream: bool, ident: Any = None) -> A2ARequest:
    """The request that sends a message."""
    return A2ARequest(
        method=method,
        stream=stream,
        role=a2a_vocabulary.role(value),
        text="\n".join(text for _, text in a2a_vocabulary.parts(value, ())),
        message_id=json_bytes.string(json_bytes.member(value, "messageId")),
        task_id=json_bytes.string(json_bytes.member(value, "taskId")),
        context_id=json_bytes.string(json_bytes.member(value, "contextId")),
        ident=ident,
    )


def rpc(document: json_bytes.Object) -> A2ARequest:
    """A JSON-RPC request. Raises WireError where its method is none of A2A's."""
    method = document.get("method")
    if not isinstance(method, str) or method not in a2a_vocabulary.METHODS:
        raise WireError("found no method of A2A, expected one")
    params, ident = document.get("params"), document.get("id")
    stream = method in a2a_vocabulary.STREAMING
    inner = json_bytes.member(params, "message")
    if isinstance(inner, dict):
        return message(inner, method, stream=stream, ident=ident)
    task = json_bytes.member(params, "id") or json_bytes.member(params, "taskId")
    return A2ARequest(method, stream, task_id=json_bytes.string(task), ident=ident)


class Gathered:
    """Puts what an agent says in several events together."""

    def __init__(self) -> None:
        self._state: str | None = None
        self._words: list[str] = []
        self._status = ""
        self._artifacts: dict[str, tuple[str, list[str]]] = {}
        self._task = self._context = ""
        self._error: str | None = None
        self._code: int | None = None
        self._complete = False
        self._ident: str | None = None

    def name(self, document: json_bytes.Object) -> None:
        """Take what the answer says it answers (JSON-RPC 2.0 §5)."""
        ident = document.get("id") if "jsonrpc" in document else None
        if self._ident is None and isinstance(ident, str | int) and not isinstance(ident, bool):
            self._ident = str(ident)

    def take(self, payload: Any) -> bool:
        """Take one answer or event; False where it says nothing that A2A knows."""
        found = a2a_vocabulary.utterance(payload)
        if found is None:
            return False
        value = found.value
        task = value.get("id") if found.what == "task" else value.get("taskId")
        self._task = json_bytes.string(task) or self._task
        self._context = json_bytes.string(value.get("contextId")) or self._context
        if found.what == "message":
            self._words.extend(text for _, text in a2a_vocabulary.texts(found))
        elif found.what == "artifact":
            self._add(value.get("artifact"), append=value.get("append") is True)
        else:
            self._state = a2a_vocabulary.state(value.get("status")) or self._state
            status = json_bytes.member(value, "status", "message")
            self._status = "\n".join(text for _, text in a2a_vocabulary.parts(status, ())) or self._status
            for _, artifact in json_bytes.objects(value.get("artifacts")):
                self._add(artifact, append=False)
        self._complete = self._complete or a2a_vocabulary.ends(found)
        return True

    def fail(self, error: Any) -> None:
        """Take an error in place of an answer."""
        text = json_bytes.string(json_bytes.member(error, "message")) or "the agent gave an error"
        code = json_bytes.member(error, "code")
        self._error = self._error or text
        self._code = code if isinstance(code, int) and not isinstance(code, bool) else self._code
        self._complete = True

    def _add(self, artifact: Any, *, append: bool) -> None:
        ident = json_bytes.string(json_bytes.member(artifact, "artifactId"))
        name, pieces = self._artifacts.get(ident, ("", [])) if append else ("", [])
        pieces.extend(text for _, text in a2a_vocabulary.parts(artifact, ()))
        self._artifacts[ident] = (json_bytes.string(json_bytes.member(artifact, "name")) or name, pieces)

    def answered(self) -> A2AResponse:
        """All of it so far."""
        error = self._error
        if error is None and self._state in a2a_vocabulary.FAILED:
            error = self._status or f"the task ended `{self._state}`"
        return A2AResponse(
            state=self._state,
            text="\n".join(self._words) or self._status,
            task_id=self._task,
            context_id=self._context,
            artifacts=tuple(Artifact(i, name, "".join(p)) for i, (name, p) in self._artifacts.items()),
            error=error,
            code=self._code,
            complete=self._complete,
            ident=self._ident,
        )


def places(payload: Any, root: Path) -> list[tuple[Path, str]]:
    """The texts of one answer or event, each with its place in the document."""
    found = a2a_vocabulary.utterance(payload, root)
    return [] if found is None else a2a_vocabulary.texts(found)
