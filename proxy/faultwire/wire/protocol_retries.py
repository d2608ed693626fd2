"""How many retries came before a request, in the words of the SDK that makes it."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from faultwire.events import Headers

_DIGITS = 3
"""No SDK repeats a request a thousand times; longer numbers are somebody's noise."""


def retry_count(headers: Headers) -> int | None:
    """What the SDK says, None where it says nothing.

    `x-stainless-retry-count` counts from 0 (the SDKs of OpenAI, Anthropic and others that Stainless
    generates). `amz-sdk-request: attempt=1; max=3` counts from 1 (AWS's SDKs).
    """
    value = fields = None
    for name, stated in headers:
        word = name.lower()
        if word == "x-stainless-retry-count" and value is None:
            value = stated
        elif word == "amz-sdk-request" and fields is None:
            fields = stated
    count = _number(value) if value else None
    if count is not None:
        return count
    if fields is None:
        return None
    attempts = next((field for field in fields.split(";") if field.strip().startswith("attempt=")), "")
    count = _number(attempts.partition("=")[2])
    return None if count is None else max(0, count - 1)


def _number(text: str | None) -> int | None:
    bare = (text or "").strip()
    return int(bare) if bare.isascii() and bare.isdigit() and len(bare) <= _DIGITS else None
