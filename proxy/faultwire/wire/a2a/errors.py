"""A2A's errors: codes of JSON-RPC, and google.rpc.Status in the HTTP+JSON binding, as its SDKs read them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from faultwire.errors import WireError
from faultwire.wire import json_bytes
from faultwire.wire.editing import answers as http_answers

if TYPE_CHECKING:
    from faultwire.events import Request, Response

Trouble = Literal[
    "task_not_found",
    "task_not_cancelable",
    "push_not_supported",
    "unsupported_operation",
    "content_type_not_supported",
    "invalid_agent_response",
    "extended_card_not_configured",
    "extension_required",
    "version_not_supported",
    "parse_error",
    "invalid_request",
    "method_not_found",
    "invalid_params",
    "internal_error",
]


class A2AError(NamedTuple):
    """One error: JSON-RPC's code, the status and word over HTTP, the reason, the usual message."""

    code: int
    status: int
    word: str
    reason: str
    message: str


TABLE: dict[Trouble, A2AError] = {
    "task_not_found": A2AError(-32001, 404, "NOT_FOUND", "TASK_NOT_FOUND", "Task not found"),
    "task_not_cancelable": A2AError(
        -32002, 400, "FAILED_PRECONDITION", "TASK_NOT_CANCELABLE", "Task cannot be canceled"
    ),
    "push_not_supported": A2AError(
        -32003,
        400,
        "FAILED_PRECONDITION",
        "PUSH_NOTIFICATION_NOT_SUPPORTED",
        "Push Notification is not supported",
    ),
    "unsupported_operation": A2AError(
        -32004, 400, "FAILED_PRECONDITION", "UNSUPPORTED_OPERATION", "This operation is not supported"
    ),
    "content_type_not_supported": A2AError(
        -32005, 400, "INVALID_ARGUMENT", "CONTENT_TYPE_NOT_SUPPORTED", "Incompatible content types"
    ),
    "invalid_agent_response": A2AError(
        -32006, 500, "INTERNAL", "INVALID_AGENT_RESPONSE", "Invalid agent response"
    ),
    "extended_card_not_configured": A2AError(
        -32007,
        400,
        "FAILED_PRECONDITION",
        "EXTENDED_AGENT_CARD_NOT_CONFIGURED",
        "Authenticated Extended Card is not configured",
    ),
    "extension_required": A2AError(
        -32008, 400, "FAILED_PRECONDITION", "EXTENSION_SUPPORT_REQUIRED", "Extension support required"
    ),
    "version_not_supported": A2AError(
        -32009, 400, "FAILED_PRECONDITION", "VERSION_NOT_SUPPORTED", "Version not supported"
    ),
    "parse_error": A2AError(-32700, 400, "INVALID_ARGUMENT", "INVALID_REQUEST", "Invalid JSON payload"),
    "invalid_request": A2AError(-32600, 400, "INVALID_ARGUMENT", "INVALID_REQUEST", "Invalid Request"),
    "method_not_found": A2AError(-32601, 404, "NOT_FOUND", "METHOD_NOT_FOUND", "Method not found"),
    "invalid_params": A2AError(-32602, 400, "INVALID_ARGUMENT", "INVALID_PARAMS", "Invalid params"),
    "internal_error": A2AError(-32603, 500, "INTERNAL", "INTERNAL_ERROR", "Internal error"),
}

_EDGE = frozenset({408, 413, 502, 504, *range(520, 528)})
_WORDS = {
    401: ("UNAUTHENTICATED", "Authentication required"),
    403: ("PERMISSION_DENIED", "Permission denied"),
    429: ("RESOURCE_EXHAUSTED", "Too many requests"),
    501: ("UNIMPLEMENTED", "Not implemented"),
    503: ("UNAVAILABLE", "Service unavailable"),
}
_BY_STATUS: dict[int, Trouble] = {400: "invalid_request", 404: "method_not_found", 422: "invalid_params"}


def ident_of(request: Request) -> Any:
    """The id that an answer to this JSON-RPC request must carry; None where it has none."""
    try:
        found = json_bytes.load_object(request.body or b"").get("id")
    except WireError:
        return None
    return found if isinstance(found, str | int | float) and not isinstance(found, bool) else None


def object_of(trouble: Trouble, message: str | None = None) -> json_bytes.Object:
    """The `error` of a JSON-RPC answer."""
    entry = TABLE[trouble]
    return {
        "code": entry.code,
        "message": json_bytes.whole(message or entry.message),
        "data": [_info(entry.reason)],
    }


def rpc(trouble: Trouble, ident: Any, message: str | None = None, status: int = 200) -> Response:
    """An answer of JSON-RPC; a server that understood the request gives its errors with status 200."""
    shown = {"jsonrpc": "2.0", "id": ident, "error": object_of(trouble, message)}
    return http_answers.answer(status, json_bytes.dump(shown), "application/json")


def rest(trouble: Trouble, message: str | None = None) -> Response:
    """An answer of the HTTP+JSON binding."""
    entry = TABLE[trouble]
    return _status(entry.status, entry.word, message or entry.message, entry.reason)


def rpc_status(status: int, message: str | None, retry_after_s: float | None, ident: Any = None) -> Response:
    """What an agent over JSON-RPC, or what stands before it, answers with a status."""
    if status in _EDGE:
        return http_answers.with_headers(http_answers.edge_page(status, message), _retry(retry_after_s))
    usual = _WORDS.get(status, ("", None))[1]
    answer = rpc(_BY_STATUS.get(status, "internal_error"), ident, message or usual, status)
    return http_answers.with_headers(answer, _retry(retry_after_s))


def rest_status(status: int, message: str | None, retry_after_s: float | None) -> Response:
    """The same over HTTP+JSON."""
    if status in _EDGE:
        return http_answers.with_headers(http_answers.edge_page(status, message), _retry(retry_after_s))
    if status in _WORDS:
        word, usual = _WORDS[status]
        answer = _status(status, word, message or usual, None)
    else:
        trouble = _BY_STATUS.get(status, "internal_error" if status >= 500 else "invalid_request")
        entry = TABLE[trouble]
        answer = _status(status, entry.word, message or entry.message, entry.reason)
    return http_answers.with_headers(answer, _retry(retry_after_s))


def _status(status: int, word: str, message: str, reason: str | None) -> Response:
    shown: json_bytes.Object = {"code": status, "status": word, "message": json_bytes.whole(message)}
    if reason is not None:
        shown["details"] = [_info(reason)]
    return http_answers.answer(status, json_bytes.dump({"error": shown}), "application/json")


def _info(reason: str) -> json_bytes.Object:
    kind = "type.googleapis.com/google.rpc.ErrorInfo"
    return {"@type": kind, "reason": reason, "domain": "a2a-protocol.org", "metadata": {}}


def _retry(seconds: float | None) -> tuple[tuple[str, str], ...]:
    return () if seconds is None else (("retry-after", http_answers.whole_seconds(seconds)),)
