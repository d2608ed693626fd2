"""OpenAI's errors: shapes that the SDKs parse, texts as the API words them."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from faultwire.wire import _http, _json

if TYPE_CHECKING:
    from faultwire.events import Response


class Told(NamedTuple):
    """The `error` object of an answer."""

    type: str | None
    code: str | None
    message: str
    param: str | None = None


_EDGE = frozenset({408, 413, 502, 504, *range(520, 528)})
"""Answered by the load balancer in front of the API: a page without a request id."""

_TABLE = {
    400: Told(
        "invalid_request_error",
        None,
        "We could not parse the JSON body of your request. (HINT: This likely means you aren't using your "
        "HTTP library correctly.)",
    ),
    401: Told(
        "invalid_request_error",
        "invalid_api_key",
        "Incorrect API key provided. You can find your API key at https://platform.openai.com/account/api-keys.",
    ),
    403: Told(
        "invalid_request_error",
        "unsupported_country_region_territory",
        "Country, region, or territory not supported",
    ),
    404: Told(
        "invalid_request_error",
        "model_not_found",
        "The model does not exist or you do not have access to it.",
    ),
    409: Told("invalid_request_error", None, "The resource was changed by another request."),
    422: Told("invalid_request_error", None, "The request was well-formed but could not be processed."),
    429: Told("requests", "rate_limit_exceeded", "Rate limit reached for requests."),
    500: Told(
        "server_error",
        None,
        "The server had an error while processing your request. Sorry about that!",
    ),
    503: Told("server_error", None, "The engine is currently overloaded, please try again later."),
}


def error(status: int, message: str | None, retry_after_s: float | None) -> Response:
    """The answer for a status."""
    if status in _EDGE:
        page = _http.edge_page(status, message)
        return _http.with_headers(page, _retry(retry_after_s))
    told = _TABLE.get(status) or _unlisted(status)
    text = message or told.message
    if status == 429 and message is None and retry_after_s is not None:
        text = f"{text} Please try again in {_duration(retry_after_s)}."
    request_id = _http.made_id("req_", "openai_chat", status, text, retry_after_s, length=32)
    shown = {"message": _json.whole(text), "type": told.type, "param": told.param, "code": told.code}
    limits = _limits(retry_after_s) if status == 429 else ()
    known = (("openai-version", "2020-10-01"), ("openai-processing-ms", "12"), ("x-request-id", request_id))
    body = _json.dump({"error": shown})
    return _http.answer(status, body, "application/json", *known, *limits, *_retry(retry_after_s))


def _unlisted(status: int) -> Told:
    if status >= 500:
        return Told("server_error", None, _TABLE[500].message)
    return Told("invalid_request_error", None, _http.reason(status) or f"Unexpected status {status}.")


def _limits(retry_after_s: float | None) -> tuple[tuple[str, str], ...]:
    reset = _duration(1.0 if retry_after_s is None else retry_after_s)
    return (
        ("x-ratelimit-limit-requests", "500"),
        ("x-ratelimit-limit-tokens", "30000"),
        ("x-ratelimit-remaining-requests", "0"),
        ("x-ratelimit-remaining-tokens", "29000"),
        ("x-ratelimit-reset-requests", reset),
        ("x-ratelimit-reset-tokens", reset),
    )


def _retry(seconds: float | None) -> tuple[tuple[str, str], ...]:
    """Both forms: `retry-after` holds whole seconds, the SDKs read milliseconds first."""
    if seconds is None:
        return ()
    return (
        ("retry-after", _http.whole_seconds(seconds)),
        ("retry-after-ms", str(max(0, round(seconds * 1000)))),
    )


def _duration(seconds: float) -> str:
    """As Go prints it, which is what the API sends: `340ms`, `1.2s`, `6m0s`."""
    if seconds < 1:
        return f"{round(seconds * 1000)}ms"
    minutes, rest = divmod(seconds, 60)
    tail = f"{rest:.3f}".rstrip("0").rstrip(".") + "s"
    return f"{int(minutes)}m{tail}" if minutes else tail
