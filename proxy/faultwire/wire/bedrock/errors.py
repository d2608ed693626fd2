"""Bedrock's errors: the kind in `x-amzn-ErrorType`, texts as the API words them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from faultwire.wire import json_bytes
from faultwire.wire.editing import answers as http_answers

if TYPE_CHECKING:
    from faultwire.events import Response

_EDGE = frozenset({413, 502, 504, *range(520, 528)})
_TABLE = {
    400: ("ValidationException", "The provided request is not valid."),
    401: ("UnrecognizedClientException", "The security token included in the request is invalid."),
    403: ("AccessDeniedException", "You don't have access to the model with the specified model ID."),
    404: ("ResourceNotFoundException", "Could not resolve the foundation model from the model identifier."),
    408: ("ModelTimeoutException", "Model has timed out in processing the request. Try your request again."),
    409: ("ConflictException", "The resource was changed by another request."),
    424: ("ModelErrorException", "The model returned an error while processing the request."),
    429: ("ThrottlingException", "Too many requests, please wait before trying again."),
    500: ("InternalServerException", "The system encountered an unexpected error during processing."),
    503: ("ServiceUnavailableException", "Bedrock is unable to process your request."),
}


def error(status: int, message: str | None, retry_after_s: float | None) -> Response:
    """The answer for a status; AWS's SDKs read `x-amz-retry-after` (milliseconds) and nothing else."""
    retry: tuple[tuple[str, str], ...] = ()
    if retry_after_s is not None:
        retry = (("x-amz-retry-after", str(max(0, round(retry_after_s * 1000)))),)
    if status in _EDGE:
        return http_answers.with_headers(http_answers.edge_page(status, message), retry)
    kind, text = _TABLE.get(status) or _unlisted(status)
    return http_answers.with_headers(error_response(status, kind, message or text), retry)


def error_response(status: int, kind: str, message: str) -> Response:
    """The answer that tells of an error."""
    made = http_answers.made_id("", "bedrock", status, message, length=32)
    request_id = "-".join((made[:8], made[8:12], made[12:16], made[16:20], made[20:]))
    body = json_bytes.dump({"message": json_bytes.whole(message)})
    known = (("x-amzn-requestid", request_id), ("x-amzn-errortype", f"{kind}:"))
    return http_answers.answer(status, body, "application/json", *known)


def _unlisted(status: int) -> tuple[str, str]:
    if status >= 500:
        return _TABLE[500]
    return "ValidationException", http_answers.reason(status) or f"Unexpected status {status}."
