"""Errors of services that speak no protocol known here."""

from __future__ import annotations

from typing import TYPE_CHECKING

from faultwire.wire import json_bytes
from faultwire.wire.editing import answers as http_answers

if TYPE_CHECKING:
    from faultwire.events import Response


def error(status: int, *, message: str | None = None, retry_after_s: float | None = None) -> Response:
    """A JSON error as a plain HTTP service gives it: `{"error": {"message", "status"}}`."""
    text = message or http_answers.reason(status) or f"status {status}"
    body = json_bytes.dump({"error": {"message": json_bytes.whole(text), "status": status}})
    headers = () if retry_after_s is None else (("retry-after", http_answers.whole_seconds(retry_after_s)),)
    return http_answers.answer(status, body, "application/json", *headers)
