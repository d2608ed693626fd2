"""Errors of services that speak no protocol known here."""

from __future__ import annotations

from typing import TYPE_CHECKING

from faultwire.wire import _http, _json

if TYPE_CHECKING:
    from faultwire.events import Response


def error(status: int, *, message: str | None = None, retry_after_s: float | None = None) -> Response:
    """A JSON error as a plain HTTP service gives it: `{"error": {"message", "status"}}`."""
    told = message or _http.reason(status) or f"status {status}"
    body = _json.dump({"error": {"message": _json.whole(told), "status": status}})
    headers = () if retry_after_s is None else (("retry-after", _http.whole_seconds(retry_after_s)),)
    return _http.answer(status, body, "application/json", *headers)
