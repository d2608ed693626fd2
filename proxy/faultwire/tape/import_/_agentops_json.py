"""Canonical JSON two ways, and what a payload hides."""

from __future__ import annotations

import hashlib
import json
import math
from typing import Any

from faultwire import _core

REDACTED = "[REDACTED]"
_MAX_VALUES = 1_000_000


def digests(value: Any) -> tuple[str | None, str | None]:
    """SHA-256 (hex) of a value as RFC 8785 writes it, and as AgentOps Replay does; None where one of them
    cannot write it. A payload that is text already, as in an export, counts as canonical."""
    if isinstance(value, str):
        data = value.encode("utf-8", "surrogatepass")
        return hashlib.sha256(data).hexdigest(), None
    try:
        ours = hashlib.sha256(_core.jcs(json.dumps(value).encode())).hexdigest()
    except (ValueError, RecursionError):
        ours = None
    try:
        theirs = own_digest(value)
    except (ValueError, RecursionError):
        theirs = None
    return ours, theirs


def own_digest(value: Any) -> str:
    """SHA-256 (hex) of a value as AgentOps Replay writes it. Raises ValueError and RecursionError where it
    cannot."""
    return hashlib.sha256(_theirs(value).encode()).hexdigest()


def _theirs(value: Any) -> str:
    """JSON with sorted members whose numbers are Python's, without the `+` of an exponent.

    Raises ValueError for what is no JSON, and RecursionError for what is nested too deep.
    """
    if isinstance(value, dict):
        names = sorted(value, key=lambda name: name.encode("utf-16-be"))
        return "{" + ",".join(f"{_theirs(name)}:{_theirs(value[name])}" for name in names) + "}"
    if isinstance(value, list):
        return "[" + ",".join(map(_theirs, value)) + "]"
    if isinstance(value, float):
        if not math.isfinite(value):
            raise ValueError("a number that JSON does not have")
        if value == 0:
            return "-0" if math.copysign(1, value) < 0 else "0"
        return repr(value).replace("e+", "e")
    return json.dumps(value, ensure_ascii=False)


def redactions(payload: dict[str, Any]) -> tuple[int, list[str]]:
    """How many values of a payload are redacted, and the names of those whose hash is not beside them."""
    hidden, bare = 0, []
    waiting: list[Any] = [payload]
    seen = 0
    while waiting and seen < _MAX_VALUES:
        value = waiting.pop()
        seen += 1
        if isinstance(value, list):
            waiting += value
        elif isinstance(value, dict):
            waiting += value.values()
            for name, one in value.items():
                if one == REDACTED:
                    hidden += 1
                    if f"{name}_hash" not in value:
                        bare.append(f"`{name[:80]}`")
    return hidden, bare
