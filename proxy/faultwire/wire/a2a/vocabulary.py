"""The words of A2A in its versions 0.3 and 1.0: methods, paths, states, parts.

Version 0.3 marks values by `kind`, version 1.0 by the member that holds them; 0.3's HTTP+JSON binding is
1.0's with other names. Source: the specification (a2a-protocol.org) and the official SDKs.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from faultwire.events import header
from faultwire.wire import json_bytes

if TYPE_CHECKING:
    from faultwire.events import Path, Request

Version = Literal["0.3", "1.0"]
What = Literal["task", "message", "status", "artifact"]

STREAMING = frozenset(("message/stream", "tasks/resubscribe", "SendStreamingMessage", "SubscribeToTask"))
METHODS = STREAMING | {
    "message/send",
    "tasks/get",
    "tasks/list",
    "tasks/cancel",
    "tasks/pushNotificationConfig/set",
    "tasks/pushNotificationConfig/get",
    "tasks/pushNotificationConfig/list",
    "tasks/pushNotificationConfig/delete",
    "agent/getAuthenticatedExtendedCard",
    "SendMessage",
    "GetTask",
    "ListTasks",
    "CancelTask",
    "CreateTaskPushNotificationConfig",
    "GetTaskPushNotificationConfig",
    "ListTaskPushNotificationConfigs",
    "DeleteTaskPushNotificationConfig",
    "GetExtendedAgentCard",
}
"""Methods of JSON-RPC; those of version 1.0 begin with a capital letter."""

SHARED = frozenset(("tasks/get", "tasks/list", "tasks/cancel"))
"""Methods that MCP has, too: there a task is named `taskId`, here `id`."""

CARDS = ("/.well-known/agent-card.json", "/.well-known/agent.json")
"""Where an agent's card is; the second one before version 0.3."""
EXTENDED = ("/extendedAgentCard", "/v1/card")
"""Where the card is that only known clients get."""

FRESH_IDS = ("messageId", "contextId", "taskId", "referenceTaskIds")
"""Members of a message that somebody makes anew in every run."""

OPEN = frozenset(("submitted", "working", "unspecified", "unknown", ""))
"""States in which a task goes on by itself; in every other one its stream ends."""
FAILED = frozenset(("failed", "rejected"))


class Utterance(NamedTuple):
    """One value that an agent sends, and where it stands."""

    what: What
    value: json_bytes.Object
    path: Path


def version(request: Request, method: str = "") -> Version:
    """The version that a request is of; without the header it is 0.3, unless its method says more."""
    value = (header(request.headers, "a2a-version") or "").strip()
    return "1.0" if value.startswith("1") or method[:1].isupper() else "0.3"


def state(status: Any) -> str:
    """The state of a task in one word for all versions: `input-required`, `completed`."""
    value = json_bytes.string(json_bytes.member(status, "state"))
    word = value.removeprefix("TASK_STATE_").lower().replace("_", "-")
    return "canceled" if word == "cancelled" else word


def role(message: Any) -> Literal["user", "assistant"]:
    """Whose message it is."""
    value = json_bytes.string(json_bytes.member(message, "role")).lower()
    return "assistant" if value in ("agent", "role_agent") else "user"


def parts(value: Any, path: Path) -> list[tuple[Path, str]]:
    """The texts of a message or an artifact, each with its place."""
    found: list[tuple[Path, str]] = []
    for key in ("parts", "content"):  # 0.3's HTTP+JSON binding says `content`
        for at, part in json_bytes.objects(json_bytes.member(value, key)):
            text = part.get("text")
            if isinstance(text, str):
                found.append(((*path, key, at, "text"), text))
    return found


def utterance(payload: Any, root: Path = ()) -> Utterance | None:
    """The one value in an answer or event, in any version; None where it holds none."""
    if not isinstance(payload, dict):
        return None
    kind = _KINDS.get(json_bytes.string(payload.get("kind")))
    if kind is not None:
        return Utterance(kind, payload, root)
    for key, what in _MEMBERS.items():
        if isinstance(payload.get(key), dict):
            return Utterance(what, payload[key], (*root, key))
    if isinstance(payload.get("status"), dict) and isinstance(payload.get("id"), str):
        return Utterance("task", payload, root)  # what `GetTask` and `CancelTask` give
    return None


_MEMBERS: dict[str, What] = {
    "task": "task",
    "message": "message",
    "statusUpdate": "status",
    "artifactUpdate": "artifact",
    "msg": "message",
}
_KINDS: dict[str, What] = {
    "task": "task",
    "message": "message",
    "status-update": "status",
    "artifact-update": "artifact",
}


def texts(found: Utterance) -> list[tuple[Path, str]]:
    """The new texts of a value; a task's history was sent before."""
    value, path = found.value, found.path
    match found.what:
        case "message":
            return parts(value, path)
        case "artifact":
            return parts(value.get("artifact"), (*path, "artifact"))
        case "status":
            return _of_status(value, path)
    artifacts = [
        text
        for at, artifact in json_bytes.objects(value.get("artifacts"))
        for text in parts(artifact, (*path, "artifacts", at))
    ]
    return _of_status(value, path) + artifacts


def _of_status(value: json_bytes.Object, path: Path) -> list[tuple[Path, str]]:
    return parts(json_bytes.member(value, "status", "message"), (*path, "status", "message"))


def ends(found: Utterance) -> bool:
    """Is this the last thing that a stream says?"""
    if found.what == "message":
        return True
    return found.what != "artifact" and (
        found.value.get("final") is True or state(found.value.get("status")) not in OPEN
    )
