"""JSON-RPC 2.0 as MCP speaks it: reading one message or a batch, and writing answers.

Source: the specification's schemas of 2024-11-05, 2025-03-26 (the only one with batches), 2025-06-18,
2025-11-25 and 2026-07-28 (no handshake, no session; `server/discover`, `resultType`).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from faultwire.errors import WireError
from faultwire.wire import json_bytes
from faultwire.wire.editing.tool_content import text_of

if TYPE_CHECKING:
    from faultwire.events import Path

VERSIONS = ("2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25", "2026-07-28")
STATELESS = "2026-07-28"
"""The first version in which every call stands for itself."""
CALL = "tools/call"
LIST = "tools/list"

METHODS = frozenset(
    (
        "initialize",
        "ping",
        "server/discover",
        LIST,
        CALL,
        "resources/list",
        "resources/read",
        "resources/subscribe",
        "resources/unsubscribe",
        "resources/templates/list",
        "prompts/list",
        "prompts/get",
        "completion/complete",
        "logging/setLevel",
        "sampling/createMessage",
        "elicitation/create",
        "roots/list",
        "subscriptions/listen",
    )
)
"""Methods that no other JSON-RPC protocol of agents has. `tasks/…` is A2A's, too."""

Id = str | int


@dataclass(frozen=True, slots=True)
class Message:
    """One message: a request (method and id), a notification (method only), or an answer (id only).

    `path` leads to it in the document: empty, or its index in a batch. `result` and `error` are None
    where it holds none.
    """

    id: Id | None
    method: str | None
    params: json_bytes.Object = field(default_factory=dict)
    result: json_bytes.Object | None = None
    error: json_bytes.Object | None = None
    path: Path = ()

    @property
    def is_request(self) -> bool:
        """Does it want an answer?"""
        return self.method is not None and self.id is not None

    @property
    def is_answer(self) -> bool:
        """Is it a result or an error?"""
        return self.method is None and (self.result is not None or self.error is not None)

    @property
    def tool(self) -> str | None:
        """The tool that it calls."""
        name = self.params.get("name")
        return name if self.method == CALL and isinstance(name, str) else None

    @property
    def arguments(self) -> str:
        """What the tool is called with, as JSON text."""
        return json_bytes.dump(self.params.get("arguments") or {}).decode()

    @property
    def text(self) -> str:
        """What a tool's result says in words, or the error's message."""
        if self.error is not None:
            return json_bytes.string(self.error.get("message"))
        return text_of((self.result or {}).get("content"))

    @property
    def is_error(self) -> bool:
        """Did the tool fail (`isError`), or the call itself?"""
        return self.error is not None or bool((self.result or {}).get("isError"))


def messages(body: bytes | str | None) -> tuple[Message, ...]:
    """The messages of a body or of an event's data. Raises WireError where it is no JSON-RPC 2.0."""
    document = json_bytes.load(body or b"")
    if isinstance(document, list):
        found = tuple(_message(item, (at,)) for at, item in enumerate(document))
        if not found:
            raise WireError("found an empty batch, expected messages")
        return found
    return (_message(document, ()),)


def _message(value: Any, path: Path) -> Message:
    if not isinstance(value, dict) or value.get("jsonrpc") != "2.0":
        raise WireError('found no `"jsonrpc": "2.0"`, expected a message')
    ident, method = value.get("id"), value.get("method")
    if not isinstance(ident, str | int) or isinstance(ident, bool):
        ident = None
    return Message(
        ident,
        method if isinstance(method, str) else None,
        _object(value.get("params")) or {},
        _object(value.get("result")),
        _object(value.get("error")),
        path,
    )


def _object(value: Any) -> json_bytes.Object | None:
    return value if isinstance(value, dict) else None


def speaks(message: Message, *, marked: bool) -> bool:
    """Is a message one of MCP's? `marked`: do the request's headers say so?"""
    method = message.method
    if method is None:
        return message.is_answer or marked
    if method in METHODS or method.startswith("notifications/"):
        return True
    return marked or (method.startswith("tasks/") and "taskId" in message.params)


# ---------------------------------------------------------------- answers


def error(ident: Id | None, code: int, message: str, data: Any = None) -> bytes:
    """A JSON-RPC error (§5.1), compact and in the order in which servers write it."""
    error_object: json_bytes.Object = {"code": code, "message": json_bytes.whole(message)}
    if data is not None:
        error_object["data"] = data
    return json_bytes.dump({"jsonrpc": "2.0", "id": ident, "error": error_object})


def tool_result(ident: Id | None, text: str, *, is_error: bool, version: str | None = None) -> bytes:
    """A tool's result in words."""
    result: json_bytes.Object = {
        "content": [{"type": "text", "text": json_bytes.whole(text)}],
        "isError": is_error,
    }
    if version == STATELESS:
        result["resultType"] = "complete"
    return json_bytes.dump({"jsonrpc": "2.0", "id": ident, "result": result})


def with_id(message: bytes, ident: Id) -> bytes:
    """The message as the answer to another request."""
    return json_bytes.put(message, ("id",), json_bytes.dump(ident))
