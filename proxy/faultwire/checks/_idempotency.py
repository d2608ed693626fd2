"""The key by which a server recognises a request that it has seen before, wherever an API puts it."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING
from urllib.parse import parse_qsl

from faultwire.events import header

if TYPE_CHECKING:
    from faultwire.events import Request

HEADERS = ("idempotency-key", "x-idempotency-key", "paypal-request-id", "repeatability-request-id")
"""The IETF's draft (Stripe, Adyen), its older name, PayPal's, and OASIS' Repeatable Requests (Azure)."""
MEMBERS = frozenset(
    {
        "clientrequesttoken",
        "clienttoken",
        "client_token",
        "idempotencykey",
        "idempotency_key",
        "request_id",
        "requestid",
    }
)
"""Of a body or a query, in lower case: AWS, Square, and Google's AIP-155."""
_LONGEST = 1 << 20
"""Bytes of a body that is read for a key."""


def key_of(request: Request) -> str | None:
    """The key of a request, by the first place that has one; None where no known place has any."""
    for name in HEADERS:
        value = header(request.headers, name)
        if value:
            return value
    query = parse_qsl(request.path.partition("?")[2])
    return _first(query) or _first(_members(request.body or b""))


def _first(members: list[tuple[str, str]]) -> str | None:
    return next((value for name, value in members if name.lower() in MEMBERS and value), None)


def _members(body: bytes) -> list[tuple[str, str]]:
    """The texts of a JSON object, or of a form."""
    if len(body) > _LONGEST:
        return []
    if body.lstrip()[:1] != b"{":
        return parse_qsl(body.decode("utf-8", "replace")) if b"=" in body else []
    try:
        document = json.loads(body)
    except (ValueError, RecursionError):
        return []
    return [(name, value) for name, value in document.items() if isinstance(value, str)]
