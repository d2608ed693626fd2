"""An answer that says a text, in the protocol of the request that is held: whole or a stream, as the mock
would write it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from faultwire.errors import UsageError
from faultwire.events import Request
from faultwire.mock._api import Refused, Reply
from faultwire.mock._registry import dialects

if TYPE_CHECKING:
    from collections.abc import Mapping


def spoken(shown: Mapping[str, Any], text: str) -> dict[str, Any]:
    """`status`, `headers` and `raw` of the answer to the request that `shown` has. Raises UsageError."""
    request = _request(shown.get("asked", shown))
    dialect = next((one for one in dialects().values() if one.answers(request)), None)
    if dialect is None:
        raise UsageError(
            "the request speaks no protocol in which a text could be answered",
            code="control.answer",
            hint="give the whole answer: its status, its header fields and its body",
        )
    try:
        conversation = dialect.receive(request)
    except Refused as refused:
        raise UsageError(
            f"the request cannot be answered with a text: {(refused.response.body or b'').decode()[:300]}",
            code="control.answer",
        ) from None
    reply = Reply(text=text)
    if conversation.view.stream:
        raw = b"".join(dialect.events(conversation, reply))
        headers = {"content-type": dialect.streams_as(conversation), "cache-control": "no-cache"}
    else:
        raw, headers = dialect.whole(conversation, reply), {"content-type": dialect.whole_type}
    try:
        return {"status": 200, "headers": headers, "raw": raw.decode()}
    except UnicodeDecodeError:
        raise UsageError(
            "the protocol's answers are binary, and cannot be made of a text", code="control.answer"
        ) from None


def _request(asked: Mapping[str, Any]) -> Request:
    parts = urlsplit(asked.get("url", ""))
    path = f"{parts.path}?{parts.query}" if parts.query else parts.path
    headers = tuple((name, value) for name, value in asked.get("headers", ()))
    body = str(asked.get("body", "")).encode()
    scheme = "http" if parts.scheme == "http" else "https"
    port = parts.port or (443 if scheme == "https" else 80)
    return Request(asked.get("method", "POST"), scheme, parts.hostname or "", port, path, headers, body)
