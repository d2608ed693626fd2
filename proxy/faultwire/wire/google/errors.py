"""Google's errors (google.rpc.Status as JSON): shapes that the SDKs parse, texts as the API words them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from faultwire.wire import json_bytes
from faultwire.wire.editing import answers as http_answers

if TYPE_CHECKING:
    from faultwire.events import Response

_EDGE = frozenset({408, 413, 502, *range(520, 528)})
_RPC = "type.googleapis.com/google.rpc."
_TABLE = {
    400: ("INVALID_ARGUMENT", "Invalid JSON payload received."),
    401: ("UNAUTHENTICATED", "Request had invalid authentication credentials."),
    403: ("PERMISSION_DENIED", "The caller does not have permission"),
    404: (
        "NOT_FOUND",
        "The model is not found for the API version, or is not supported for generateContent.",
    ),
    409: ("ABORTED", "The operation was aborted."),
    429: (
        "RESOURCE_EXHAUSTED",
        "You exceeded your current quota, please check your plan and billing details.",
    ),
    499: ("CANCELLED", "The operation was cancelled."),
    500: ("INTERNAL", "An internal error has occurred."),
    501: ("UNIMPLEMENTED", "Operation is not implemented, or supported, or enabled."),
    503: ("UNAVAILABLE", "The model is overloaded. Please try again later."),
    504: ("DEADLINE_EXCEEDED", "Deadline expired before operation could complete."),
}


def error(status: int, message: str | None, retry_after_s: float | None) -> Response:
    """The answer for a status; when to come back stands in its body."""
    if status in _EDGE:
        return http_answers.edge_page(status, message)
    word, text = _TABLE.get(status) or _unlisted(status)
    return error_response(status, word, message or text, _details(status, retry_after_s))


def error_response(
    status: int, word: str, message: str, details: list[dict[str, Any]] | None = None
) -> Response:
    """The answer that tells of an error."""
    shown: dict[str, Any] = {"code": status, "message": json_bytes.whole(message), "status": word}
    if details:
        shown["details"] = details
    more = (("vary", "Origin"), ("server", "ESF"), ("x-content-type-options", "nosniff"))
    return http_answers.answer(
        status, json_bytes.dump({"error": shown}), "application/json; charset=UTF-8", *more
    )


def _details(status: int, retry_after_s: float | None) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = []
    if status == 429:
        violation = {"quotaMetric": "generativelanguage.googleapis.com/generate_content_requests"}
        found.append({"@type": _RPC + "QuotaFailure", "violations": [violation]})
    if retry_after_s is not None:
        found.append({"@type": _RPC + "RetryInfo", "retryDelay": f"{retry_after_s:g}s"})
    return found


def _unlisted(status: int) -> tuple[str, str]:
    if status >= 500:
        return _TABLE[500]
    return "FAILED_PRECONDITION", http_answers.reason(status) or f"Unexpected status {status}."
