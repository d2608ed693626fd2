"""Placeholders of redacted values in live traffic: an agent that is answered from a tape says them back."""

from __future__ import annotations

import re  # noqa: TID251 - a fixed pattern
from dataclasses import replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from faultwire.events import Request

MARK = b"redacted:v1:"
_PLACEHOLDER = re.compile(MARK + rb"[0-9a-f]{32}")


def unkeyed(data: bytes) -> bytes:
    """The same with each placeholder named by its order, first come first.

    Placeholders are made with the key of the project that recorded: dice that depended on them would
    fall otherwise on every machine.
    """
    if MARK not in data:
        return data
    seen: dict[bytes, int] = {}
    return _PLACEHOLDER.sub(lambda found: b"%b%d" % (MARK, seen.setdefault(found[0], len(seen))), data)


def stands_for_all(data: bytes | None) -> bool:
    """Is this a placeholder and nothing else: of a body that could not be searched for secrets?"""
    return data is not None and data.startswith(MARK) and _PLACEHOLDER.fullmatch(data) is not None


def unkeyed_request(request: Request) -> Request:
    """The same for a request: its path and its body; most hold none, and stay as they are."""
    path, body = request.path, request.body or b""
    if MARK in body:
        request = replace(request, body=unkeyed(body))
    if MARK.decode() in path:
        raw = unkeyed(path.encode("utf-8", "surrogatepass"))
        request = replace(request, path=raw.decode("utf-8", "surrogatepass"))
    return request
