"""Anthropic's errors: shapes that the SDKs parse, texts as the API words them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from faultwire.wire import json_bytes
from faultwire.wire.editing import answers as http_answers

if TYPE_CHECKING:
    from faultwire.events import Response

_EDGE = frozenset({408, 502, *range(520, 528)})
"""Answered by the load balancer in front of the API: a page without a request id."""

_TABLE = {
    400: ("invalid_request_error", "The request body is not valid JSON."),
    401: ("authentication_error", "invalid x-api-key"),
    402: ("billing_error", "Your credit balance is too low to access the Anthropic API."),
    403: ("permission_error", "Your API key does not have permission to use the specified resource."),
    404: ("not_found_error", "Not found"),
    409: ("invalid_request_error", "The resource was changed by another request."),
    413: ("request_too_large", "Request exceeds the maximum size"),
    422: ("invalid_request_error", "The request could not be processed."),
    429: (
        "rate_limit_error",
        "This request would exceed the rate limit for your organization of 50 requests per minute.",
    ),
    500: ("api_error", "Internal server error"),
    503: ("api_error", "Service unavailable"),
    504: ("timeout_error", "Request timed out"),
    529: ("overloaded_error", "Overloaded"),
}


def error(status: int, message: str | None, retry_after_s: float | None) -> Response:
    """The answer for a status."""
    retry = () if retry_after_s is None else (("retry-after", http_answers.whole_seconds(retry_after_s)),)
    if status in _EDGE:
        return http_answers.with_headers(http_answers.edge_page(status, message), retry)
    kind, text = _TABLE.get(status) or _unlisted(status)
    limits = _limits() if status == 429 else ()
    return http_answers.with_headers(
        error_response(status, kind, message or text, retry_after_s), (*limits, *retry)
    )


def of_tokens(limited: Response) -> Response:
    """The answer of a rate limit on requests, reworded as one on tokens; another shape is unchanged."""
    document = json_bytes.load_object(limited.body or b"")
    error = document.get("error")
    if not isinstance(error, dict) or error.get("message") != _TABLE[429][1]:
        return limited
    error["message"] = _TABLE[429][1].replace("50 requests", "30,000 input tokens")
    left = {"requests-remaining": "49", "input-tokens-remaining": "0"}
    fields = {f"anthropic-ratelimit-{name}": value for name, value in left.items()}
    return http_answers.with_body(limited, json_bytes.dump(document), fields)


def error_response(status: int, kind: str, text: str, salt: object = None) -> Response:
    """The answer that tells of an error, with its request id."""
    request_id = http_answers.made_id("req_011", "anthropic", status, text, salt, length=21)
    body = {
        "type": "error",
        "error": {"type": kind, "message": json_bytes.whole(text), "details": None},
        "request_id": request_id,
    }
    known = (
        ("request-id", request_id),
        ("anthropic-organization-id", "00000000-0000-4000-8000-000000000000"),
    )
    return http_answers.answer(status, json_bytes.dump(body), "application/json", *known)


def _unlisted(status: int) -> tuple[str, str]:
    if status >= 500:
        return _TABLE[500]
    return "invalid_request_error", http_answers.reason(status) or f"Unexpected status {status}."


def _limits() -> tuple[tuple[str, str], ...]:
    """Without the `-reset` fields: they hold a wall-clock instant, and no SDK reads them."""
    return (
        ("anthropic-ratelimit-requests-limit", "50"),
        ("anthropic-ratelimit-requests-remaining", "0"),
        ("anthropic-ratelimit-input-tokens-limit", "30000"),
        ("anthropic-ratelimit-input-tokens-remaining", "29000"),
        ("anthropic-ratelimit-output-tokens-limit", "8000"),
        ("anthropic-ratelimit-output-tokens-remaining", "7600"),
    )
