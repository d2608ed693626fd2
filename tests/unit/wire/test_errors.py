"""faultwire.wire.openai.errors, faultwire.wire.anthropic.errors and faultwire.wire.editing.plain_errors."""

from __future__ import annotations

import json

import pytest

from faultwire import wire
from faultwire.events import Response, header
from faultwire.wire.editing import plain_errors

OPENAI, ANTHROPIC = wire.protocol("openai_chat"), wire.protocol("anthropic")

OPENAI_TABLE = {
    400: ("invalid_request_error", None),
    401: ("invalid_request_error", "invalid_api_key"),
    403: ("invalid_request_error", "unsupported_country_region_territory"),
    404: ("invalid_request_error", "model_not_found"),
    409: ("invalid_request_error", None),
    422: ("invalid_request_error", None),
    429: ("requests", "rate_limit_exceeded"),
    500: ("server_error", None),
    503: ("server_error", None),
    529: ("server_error", None),
    418: ("invalid_request_error", None),
    599: ("server_error", None),
}
ANTHROPIC_TABLE = {
    400: "invalid_request_error",
    401: "authentication_error",
    402: "billing_error",
    403: "permission_error",
    404: "not_found_error",
    409: "invalid_request_error",
    413: "request_too_large",
    422: "invalid_request_error",
    429: "rate_limit_error",
    500: "api_error",
    503: "api_error",
    504: "timeout_error",
    529: "overloaded_error",
    418: "invalid_request_error",
    599: "api_error",
}


def parsed(response: Response) -> dict[str, object]:
    assert header(response.headers, "content-type") == "application/json"
    found: dict[str, object] = json.loads(response.body or b"")
    return found


@pytest.mark.parametrize("status", OPENAI_TABLE)
def test_openai(status: int) -> None:
    response = OPENAI.error(status)
    error = parsed(response)["error"]
    assert isinstance(error, dict)
    assert (response.status, error["type"], error["code"]) == (status, *OPENAI_TABLE[status])
    assert list(error) == ["message", "type", "param", "code"]
    assert error["message"]
    assert (header(response.headers, "x-request-id") or "").startswith("req_")
    assert header(response.headers, "retry-after") is None


@pytest.mark.parametrize("status", ANTHROPIC_TABLE)
def test_anthropic(status: int) -> None:
    response = ANTHROPIC.error(status)
    body = parsed(response)
    error = body["error"]
    assert isinstance(error, dict)
    assert (response.status, body["type"], error["type"]) == (status, "error", ANTHROPIC_TABLE[status])
    assert body["request_id"] == header(response.headers, "request-id")
    assert error["details"] is None


@pytest.mark.parametrize("status", [408, 413, 502, 504, 520, 524])
def test_the_edge_of_openai_answers_in_html_without_request_id(status: int) -> None:
    response = OPENAI.error(status, message="<b>", retry_after_s=2)
    assert b"<html>" in (response.body or b"")
    assert b"&lt;b&gt;" in (response.body or b"")
    assert header(response.headers, "x-request-id") is None
    assert header(response.headers, "retry-after") == "2"
    assert (header(response.headers, "content-type") or "").startswith("text/html")


@pytest.mark.parametrize("status", [408, 502, 524])
def test_the_edge_of_anthropic_answers_in_html_without_request_id(status: int) -> None:
    response = ANTHROPIC.error(status)
    assert b"<html>" in (response.body or b"")
    assert header(response.headers, "request-id") is None


def test_rate_limits_of_openai() -> None:
    response = OPENAI.error(429, retry_after_s=1.25)
    fields = dict(response.headers)
    assert (fields["retry-after"], fields["retry-after-ms"]) == ("2", "1250")
    assert fields["x-ratelimit-remaining-requests"] == "0"
    assert fields["x-ratelimit-reset-requests"] == "1.25s"
    assert b"Please try again in 1.25s." in (response.body or b"")


@pytest.mark.parametrize(
    ("seconds", "text"), [(0.34, "340ms"), (1.0, "1s"), (360.0, "6m0s"), (61.5, "1m1.5s")]
)
def test_durations_as_openai_writes_them(seconds: float, text: str) -> None:
    assert dict(OPENAI.error(429, retry_after_s=seconds).headers)["x-ratelimit-reset-tokens"] == text


def test_rate_limits_of_anthropic() -> None:
    fields = dict(ANTHROPIC.error(429, retry_after_s=1.25).headers)
    assert fields["retry-after"] == "2"
    assert fields["anthropic-ratelimit-requests-remaining"] == "0"
    assert "retry-after-ms" not in fields


@pytest.mark.parametrize("make", [OPENAI.error, ANTHROPIC.error, plain_errors.error])
def test_the_message_can_be_given_and_answers_repeat(make: object) -> None:
    assert callable(make)
    first, again = (make(503, message="out \ud800 of order", retry_after_s=3) for _ in range(2))
    assert first == again
    assert "out \ufffd of order" in first.body.decode()
    assert int(header(first.headers, "content-length")) == len(first.body)
    assert first.reason == "Service Unavailable"


def test_other_messages_have_other_request_ids() -> None:
    ids = {header(OPENAI.error(500, message=text).headers, "x-request-id") for text in ("a", "b")}
    assert len(ids) == 2


def test_plain_errors() -> None:
    response = plain_errors.error(503, retry_after_s=0.5)
    assert json.loads(response.body or b"") == {"error": {"message": "Service Unavailable", "status": 503}}
    assert header(response.headers, "retry-after") == "1"
    assert json.loads(plain_errors.error(599).body or b"")["error"]["message"] == "status 599"
