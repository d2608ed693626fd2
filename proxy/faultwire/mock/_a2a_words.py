"""What an agent of the mock says, in each version and binding of A2A."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from faultwire.mock import _shared

if TYPE_CHECKING:
    from collections.abc import Iterator

Flavour = Literal["rpc-0.3", "rest-0.3", "1.0"]
"""Version 1.0 says the same over both bindings, 0.3 does not."""
Object = dict[str, Any]

AT = "2026-01-01T00:00:00Z"
"""The instant of every status. Answers must not depend on the clock."""


@dataclass(frozen=True, slots=True)
class Task:
    """A task and what came of it; `ident` is what its ids are made of."""

    id: str
    context_id: str
    state: str
    text: str
    asked: str


def task(flavour: Flavour, details: Task, *, state: str | None = None, made: bool = True) -> Object:
    """The whole task; without `made`, before it has made anything."""
    out: Object = {
        "id": details.id,
        "contextId": details.context_id,
        "status": status(flavour, details, state or details.state),
        "history": [_message(flavour, details, details.asked, "user")],
    }
    if made and details.text and not _asks(state or details.state):
        out["artifacts"] = [artifact(flavour, details, details.text)]
    return _marked(flavour, "task", out)


def status(flavour: Flavour, details: Task, state: str) -> Object:
    """The state of a task; one that asks back, or failed, says why."""
    out: Object = {"state": word(flavour, state), "timestamp": AT}
    if details.text and _asks(state):
        out["message"] = _message(flavour, details, details.text, "agent")
    return out


def artifact(flavour: Flavour, details: Task, text: str) -> Object:
    """What the task makes, or a piece of it."""
    return {"artifactId": f"{details.id}-1", "name": "answer", "parts": [_part(flavour, text)]}


def events(flavour: Flavour, details: Task) -> Iterator[Object]:
    """A task from its first to its last event; each word of its text comes by itself."""
    yield wrapped(flavour, "task", task(flavour, details, state="submitted", made=False))
    yield _update(flavour, details, "working", last=details.state == "working")
    if details.state == "working":
        return
    if not _asks(details.state):
        pieces = _shared.words(details.text)
        for at, piece in enumerate(pieces):
            body = {
                "taskId": details.id,
                "contextId": details.context_id,
                "artifact": artifact(flavour, details, piece),
                "append": at > 0,
                "lastChunk": at == len(pieces) - 1,
            }
            yield wrapped(flavour, "artifactUpdate", _marked(flavour, "artifact-update", body))
    yield _update(flavour, details, details.state, last=True)


def _update(flavour: Flavour, details: Task, state: str, *, last: bool) -> Object:
    body: Object = {
        "taskId": details.id,
        "contextId": details.context_id,
        "status": status(flavour, details, state),
    }
    if flavour != "1.0":
        body["final"] = last
    return wrapped(flavour, "statusUpdate", _marked(flavour, "status-update", body))


def wrapped(flavour: Flavour, member: str, value: Object) -> Object:
    """A value as an answer or an event holds it."""
    return value if flavour == "rpc-0.3" else {member: value}


def word(flavour: Flavour, state: str) -> str:
    """A state in the words of a version."""
    if flavour == "rpc-0.3":
        return state
    named = "CANCELLED" if state == "canceled" and flavour == "rest-0.3" else state.upper().replace("-", "_")
    return f"TASK_STATE_{named}"


def _asks(state: str) -> bool:
    return state in ("input-required", "auth-required", "failed", "rejected")


def _marked(flavour: Flavour, kind: str, value: Object) -> Object:
    return {**value, "kind": kind} if flavour == "rpc-0.3" else value


def _part(flavour: Flavour, text: str) -> Object:
    return {"kind": "text", "text": text} if flavour == "rpc-0.3" else {"text": text}


def _message(flavour: Flavour, details: Task, text: str, role: Literal["user", "agent"]) -> Object:
    parts = "content" if flavour == "rest-0.3" else "parts"
    body: Object = {
        "messageId": f"{details.id}-{role}",
        "contextId": details.context_id,
        "taskId": details.id,
        "role": role if flavour == "rpc-0.3" else f"ROLE_{role.upper()}",
        parts: [_part(flavour, text)],
    }
    return _marked(flavour, "message", body)


def card(name: str, url: str) -> Object:
    """The card of an agent, in the words of both versions at once, as agents that speak both have it."""
    what = {
        "id": "answer",
        "name": "Answer",
        "description": f"Answers what {name} is asked.",
        "tags": ["mock"],
    }
    spoken = [("JSONRPC", "1.0"), ("HTTP+JSON", "1.0"), ("JSONRPC", "0.3"), ("HTTP+JSON", "0.3")]
    return {
        "name": name,
        "description": f"A mock agent called {name}.",
        "url": url,
        "preferredTransport": "JSONRPC",
        "protocolVersion": "0.3.0",
        "additionalInterfaces": [{"url": url, "transport": binding} for binding in ("JSONRPC", "HTTP+JSON")],
        "supportedInterfaces": [
            {"url": url, "protocolBinding": binding, "protocolVersion": version}
            for binding, version in spoken
        ],
        "version": "1.0.0",
        "capabilities": {"streaming": True, "pushNotifications": False},
        "defaultInputModes": ["text/plain"],
        "defaultOutputModes": ["text/plain"],
        "skills": [what],
    }
