"""OpenAI's errors: shapes that the SDKs parse, texts as the API words them."""

from __future__ import annotations

from functools import partial
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple

from faultwire.wire import json_bytes
from faultwire.wire.editing import answers as http_answers

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from faultwire.events import Headers, Response
    from faultwire.wire.editing.api import Failure
    from faultwire.wire.types import Errors


Shown = dict[str, Any]


class OpenAIError(NamedTuple):
    """The `error` object of an answer."""

    type: str | None
    code: str | None
    message: str
    param: str | None = None


_EDGE = frozenset({408, 413, 502, 504, *range(520, 528)})
"""Answered by the load balancer in front of the API: a page without a request id."""

_TABLE = {
    400: OpenAIError(
        "invalid_request_error",
        None,
        "We could not parse the JSON body of your request. (HINT: This likely means you aren't using your "
        "HTTP library correctly.)",
    ),
    401: OpenAIError(
        "invalid_request_error",
        "invalid_api_key",
        "Incorrect API key provided. You can find your API key at https://platform.openai.com/account/api-keys.",
    ),
    403: OpenAIError(
        "invalid_request_error",
        "unsupported_country_region_territory",
        "Country, region, or territory not supported",
    ),
    404: OpenAIError(
        "invalid_request_error",
        "model_not_found",
        "The model does not exist or you do not have access to it.",
    ),
    409: OpenAIError("invalid_request_error", None, "The resource was changed by another request."),
    422: OpenAIError(
        "invalid_request_error", None, "The request was well-formed but could not be processed."
    ),
    429: OpenAIError("requests", "rate_limit_exceeded", "Rate limit reached for requests."),
    500: OpenAIError(
        "server_error",
        None,
        "The server had an error while processing your request. Sorry about that!",
    ),
    503: OpenAIError("server_error", None, "The engine is currently overloaded, please try again later."),
}


def error(status: int, message: str | None, retry_after_s: float | None) -> Response:
    """The answer for a status."""
    if status in _EDGE:
        page = http_answers.edge_page(status, message)
        return http_answers.with_headers(page, _retry(retry_after_s))
    known = _TABLE.get(status) or _unlisted(status)
    text = message or known.message
    if status == 429 and message is None and retry_after_s is not None:
        text = f"{text} Please try again in {duration(retry_after_s)}."
    limits = _limits(retry_after_s) if status == 429 else ()
    shown = known._replace(message=text)
    return http_answers.with_headers(
        error_response(status, shown, retry_after_s), (*limits, *_retry(retry_after_s))
    )


def of_tokens(limited: Response) -> Response:
    """The answer of a rate limit on requests, reworded as one on tokens; another shape is unchanged."""
    document = json_bytes.load_object(limited.body or b"")
    error = document.get("error")
    if not isinstance(error, dict) or error.get("type") != "requests":
        return limited
    error["type"] = "tokens"
    error["message"] = str(error["message"]).replace("reached for requests", "reached for tokens")
    left = {"remaining-requests": "499", "reset-requests": "120ms", "remaining-tokens": "0"}
    fields = {f"x-ratelimit-{name}": value for name, value in left.items()}
    return http_answers.with_body(limited, json_bytes.dump(document), fields)


def error_response(status: int, error: OpenAIError, salt: object = None) -> Response:
    """The answer that tells of an error, with its request id."""
    request_id = http_answers.made_id("req_", "openai_chat", status, error.message, salt, length=32)
    shown = {
        "message": json_bytes.whole(error.message),
        "type": error.type,
        "param": error.param,
        "code": error.code,
    }
    known = (("openai-version", "2020-10-01"), ("openai-processing-ms", "12"), ("x-request-id", request_id))
    return http_answers.answer(status, json_bytes.dump({"error": shown}), "application/json", *known)


FAILURES: dict[Failure, tuple[int, OpenAIError]] = {
    "overloaded": (
        503,
        OpenAIError("server_error", None, "The engine is currently overloaded, please try again later."),
    ),
    "quota_exceeded": (
        429,
        OpenAIError(
            "insufficient_quota",
            "insufficient_quota",
            "You exceeded your current quota, please check your plan and billing details.",
        ),
    ),
    "context_length": (
        400,
        OpenAIError(
            "invalid_request_error",
            "context_length_exceeded",
            "This model's maximum context length is 128000 tokens. However, your messages resulted in 131412 "
            "tokens. Please reduce the length of the messages.",
            "messages",
        ),
    ),
    "content_filter": (
        400,
        OpenAIError(
            "invalid_request_error",
            "content_policy_violation",
            "Your request was rejected as a result of our safety system.",
        ),
    ),
}
"""What a fault makes fail: the status, and the error by which OpenAI's documentation tells it."""

SERVER_ERROR = _TABLE[500].message

REQUEST_IDS = ("x-request-id", "apim-request-id", "mistral-correlation-id")
"""Where OpenAI and those who imitate it name a request: Azure twice, Mistral in a field of its own."""


def _unlisted(status: int) -> OpenAIError:
    if status >= 500:
        return OpenAIError("server_error", None, _TABLE[500].message)
    return OpenAIError(
        "invalid_request_error", None, http_answers.reason(status) or f"Unexpected status {status}."
    )


def _limits(retry_after_s: float | None) -> tuple[tuple[str, str], ...]:
    reset = duration(1.0 if retry_after_s is None else retry_after_s)
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
        ("retry-after", http_answers.whole_seconds(seconds)),
        ("retry-after-ms", str(max(0, round(seconds * 1000)))),
    )


def duration(seconds: float) -> str:
    """As Go prints it, which is what the API sends: `340ms`, `1.2s`, `6m0s`."""
    if seconds < 1:
        return f"{round(seconds * 1000)}ms"
    minutes, rest = divmod(seconds, 60)
    tail = f"{rest:.3f}".rstrip("0").rstrip(".") + "s"
    return f"{int(minutes)}m{tail}" if minutes else tail


# ---------------------------------------------------------------- other providers of the same protocol


def error_by(provider: str | None, status: int, message: str | None, retry_after_s: float | None) -> Response:
    """The answer for a status as a provider that imitates the protocol words it."""
    elsewhere = _ELSEWHERE.get(provider or "")
    if status in _EDGE or elsewhere is None:
        return error(status, message, retry_after_s)
    known = _TABLE.get(status) or _unlisted(status)
    body, headers = elsewhere(status, known._replace(message=message or known.message), retry_after_s)
    return http_answers.answer(status, json_bytes.dump(body), "application/json", *headers)


def _azure(status: int, known: OpenAIError, retry_after_s: float | None) -> tuple[Shown, Headers]:
    """The status as `code`; `retry-after` in whole seconds and, with `-ms`, in milliseconds."""
    text, code = known.message, str(status)
    if status == 429 and text == _TABLE[429].message:
        text = "Requests to the ChatCompletions_Create Operation have exceeded the token rate limit."
        if retry_after_s is not None:
            text += f" Please retry after {http_answers.whole_seconds(retry_after_s)} seconds."
    elif status == 404 and text == _TABLE[404].message:
        code, text = "DeploymentNotFound", "The API deployment for this resource does not exist."
    elif status == 401 and text == _TABLE[401].message:
        text = "Access denied due to invalid subscription key or wrong API endpoint."
    request_id = http_answers.made_id("", "azure", status, text, length=32)
    return {"error": {"code": code, "message": json_bytes.whole(text)}}, (
        ("apim-request-id", request_id),
        ("x-ms-region", "East US"),
        ("x-request-id", request_id),
        *_retry(retry_after_s),
    )


def _mistral(status: int, known: OpenAIError, retry_after_s: float | None) -> tuple[Shown, Headers]:
    kind = "rate_limited" if status == 429 else known.type
    shown = {
        "object": "error",
        "message": json_bytes.whole(known.message),
        "type": kind,
        "param": None,
        "code": "1300" if status == 429 else str(status),
        "raw_status_code": status,
    }
    correlation = http_answers.made_id("", "mistral", status, known.message, length=32)
    return shown, (("mistral-correlation-id", correlation), *_seconds(retry_after_s))


def _openrouter(status: int, known: OpenAIError, retry_after_s: float | None) -> tuple[Shown, Headers]:
    return {"error": {"message": json_bytes.whole(known.message), "code": status}}, _seconds(retry_after_s)


def _seconds(seconds: float | None) -> Headers:
    return () if seconds is None else (("retry-after", http_answers.whole_seconds(seconds)),)


def _groq(status: int, known: OpenAIError, retry_after_s: float | None) -> tuple[Shown, Headers]:
    """OpenAI's shape and limits; whole seconds in `retry-after`."""
    text = known.message
    if status == 429 and text == _TABLE[429].message and retry_after_s is not None:
        text += f" Please try again in {duration(retry_after_s)}."
    shown = {"message": json_bytes.whole(text), "type": known.type, "code": known.code}
    request_id = http_answers.made_id("req_", "groq", status, text, length=26)
    limits = _limits(retry_after_s) if status == 429 else ()
    return {"error": shown}, (("x-request-id", request_id), *limits, *_seconds(retry_after_s))


_ELSEWHERE: dict[str, Callable[[int, OpenAIError, float | None], tuple[Shown, Headers]]] = {
    "azure": _azure,
    "groq": _groq,
    "mistral": _mistral,
    "openrouter": _openrouter,
}
"""Providers whose errors have a shape of their own; all others give OpenAI's."""

BY_PROVIDER: Mapping[str, Errors] = MappingProxyType(
    {provider: partial(error_by, provider) for provider in _ELSEWHERE}
)
"""The same as functions of their own."""
