"""Values of a file that anybody may have written, brought into the bounds that a tape has."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from faultwire.events import Delivery, Headers, Message, Request
    from faultwire.tape.record.recorder import Elsewhere

MAX_INSTANT = 253_402_300_799_000
"""The end of the year 9999, in milliseconds."""
_MAX_NS = 100 * 86_400 * 1_000_000_000
"""No exchange takes longer than 100 days: more nanoseconds are no integer that JSON keeps exact."""
_MAX_HEADERS = 1_000
_MAX_TEXT = 1 << 20
_UNSAFE = re.compile(r"[^A-Za-z0-9._-]+")
_SCHEMES = ("http", "https", "ws", "wss")
_ENDINGS = frozenset(
    ("complete", "open", "client_aborted", "upstream_aborted", "cut", "closed", "reset", "refused")
)


def name_of(text: str) -> str:
    """A session name out of any text; empty where nothing of it may stand in one."""
    return _UNSAFE.sub("-", text[:200]).strip("-.")[:64]


def instant(value: float, most: int = MAX_INSTANT) -> int:
    """An integer from 0 to `most`, whatever number it was; 0 for what is none."""
    if value != value:
        return 0
    return 0 if value <= 0 else most if value >= most else int(value)


def clean(foreign: Elsewhere) -> Elsewhere:
    """The same exchange with every number and name where a tape expects it."""
    lasted = instant(foreign.duration_ns, _MAX_NS)
    upstream = None if foreign.upstream is None else _delivery(foreign.upstream, lasted)
    same = foreign.delivered is foreign.upstream or foreign.delivered == foreign.upstream
    delivered = None if foreign.delivered is None else _delivery(foreign.delivered, lasted)
    return replace(
        foreign,
        request=_request(foreign.request),
        upstream=upstream,
        delivered=upstream if same else delivered,
        started_ms=instant(foreign.started_ms),
        duration_ns=lasted,
        ending=foreign.ending if foreign.ending in _ENDINGS else "complete",
        error=None if foreign.error is None else foreign.error[:_MAX_TEXT],
        messages=tuple(map(_message, foreign.messages)),
    )


def _request(request: Request) -> Request:
    return replace(
        request,
        method=request.method[:64] or "GET",
        scheme=request.scheme if request.scheme in _SCHEMES else "http",
        host=request.host[:255],
        port=request.port if 0 <= request.port <= 65535 else 0,
        path=request.path[:_MAX_TEXT],
        headers=_headers(request.headers),
    )


def _delivery(delivery: Delivery, lasted: int) -> Delivery:
    """Chunks that do not ascend to the end of the body are not believed."""
    size, last, good = len(delivery.body), 0, []
    for end, at_ns in delivery.chunks:
        if not last <= end <= size:
            good = [(size, lasted)] if size else []
            break
        last = end
        good.append((end, instant(at_ns, _MAX_NS)))
    return replace(
        delivery,
        status=delivery.status if 0 <= delivery.status <= 999 else 0,
        reason=delivery.reason[:1000],
        headers=_headers(delivery.headers),
        chunks=tuple(good),
        trailers=_headers(delivery.trailers),
    )


def _message(message: Message) -> Message:
    sent_, got = message.sent_ns, message.delivered_ns
    return replace(
        message,
        sent_ns=None if sent_ is None else instant(sent_, _MAX_NS),
        delivered_ns=None if got is None else instant(got, _MAX_NS),
    )


def _headers(headers: Headers) -> Headers:
    """Header fields with values as tapes have them: characters that stand for bytes."""
    return tuple((_latin(name), _latin(value)) for name, value in headers[:_MAX_HEADERS])


def _latin(text: str) -> str:
    if text.isascii():
        return text[:_MAX_TEXT]
    try:
        text.encode("latin-1")
    except UnicodeEncodeError:
        text = text.encode("utf-8", "surrogatepass").decode("latin-1")
    return text[:_MAX_TEXT]
