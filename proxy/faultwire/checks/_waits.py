"""How long a server asked its client to wait."""

from __future__ import annotations

from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING

from faultwire.events import header

if TYPE_CHECKING:
    from faultwire.events import Delivery, Headers

LONGEST_S = 86_400.0
"""More than a day is nobody's wish to be asked again."""


def asked_s(delivered: Delivery | None) -> float | None:
    """Seconds that an answer asks to wait (RFC 9110 §10.2.3; `retry-after-ms` of OpenAI and Azure).

    None where it asks nothing, or in a way that nobody understands. A date is held against the answer's
    own `Date`; without one it says nothing that could be judged.
    """
    if delivered is None or delivered.status < 400:
        return None
    fine = _number(header(delivered.headers, "retry-after-ms"))
    if fine is not None:
        return min(fine / 1000, LONGEST_S)
    text = header(delivered.headers, "retry-after")
    seconds = _number(text)
    if seconds is not None:
        return min(seconds, LONGEST_S)
    until, since = _instant(text), _instant(header(delivered.headers, "date"))
    return None if until is None or since is None else min(max(0.0, until - since), LONGEST_S)


def asks_shortly(headers: Headers) -> bool:
    """Is there a wish at all, understood or not?"""
    return header(headers, "retry-after") is not None or header(headers, "retry-after-ms") is not None


def _number(text: str | None) -> float | None:
    bare = (text or "").strip()
    if not bare.isascii() or len(bare) > 16 or not bare.replace(".", "", 1).isdigit():
        return None
    return float(bare)


def _instant(text: str | None) -> float | None:
    if text is None or len(text) > 64:
        return None
    try:
        return parsedate_to_datetime(text).timestamp()
    except (ValueError, TypeError, OverflowError):
        return None
