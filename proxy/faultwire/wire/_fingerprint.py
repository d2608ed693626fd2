"""The keys under which equal calls are counted and decided on.

Digests are fixed forever: another mask or another order would shift every decision of every seed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from faultwire import _core

if TYPE_CHECKING:
    from faultwire.events import Kind, Request

VOLATILE = (
    "id",
    "tool_call_id",
    "call_id",
    "tool_use_id",
    "user",
    "metadata",
    "created",
    "request_id",
    "idempotency_key",
    "session_id",
    "timestamp",
    "prompt_cache_key",
    "safety_identifier",
)
"""Members of a body that differ between runs of the same agent; masked at any depth."""

_VOLATILE_QUERY = frozenset(
    {
        *VOLATILE,
        "_",
        "access_token",
        "api_key",
        "apikey",
        "key",
        "nonce",
        "sig",
        "signature",
        "state",
        "token",
        "ts",
    }
)
"""Query fields that differ between runs, or are secrets. `x-amz-…` are a signature's."""


def fingerprint(request: Request, kind: Kind) -> str:
    """SHA-256 (hex) of what was asked: kind, method, host, path and canonical body, volatile parts masked."""
    body = _core.json_fingerprint(request.body or b"", list(VOLATILE))
    host = request.host.lower().rstrip(".")
    return _digest("exchange", kind, request.method, host, _stable_path(request.path), body.hex())


def tool_key(name: str | None, arguments: str) -> str:
    """SHA-256 (hex) of a tool call: its name and canonical arguments."""
    text = arguments.encode("utf-8", "surrogatepass")
    return _digest("tool", name or "", _core.json_fingerprint(text, []).hex())


def _digest(*parts: str) -> str:
    """Parts joined length-prefixed, so that no two different tuples hash the same text."""
    encoded = [part.encode("utf-8", "surrogatepass") for part in parts]
    return _core.sha256_hex(b"".join(b"%d:%b" % (len(part), part) for part in encoded))


def _stable_path(path: str) -> str:
    bare, _, query = path.partition("?")
    kept = [pair for pair in query.split("&") if pair and not _is_volatile(pair)]
    return f"{bare}?{'&'.join(kept)}" if kept else bare


def _is_volatile(pair: str) -> bool:
    name = pair.partition("=")[0].lower()
    return name in _VOLATILE_QUERY or name.startswith("x-amz-")
