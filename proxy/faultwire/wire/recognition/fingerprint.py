"""The keys under which equal calls are counted and decided on.

Digests are fixed forever: another mask or another order would shift every decision of every seed.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

from faultwire import _core
from faultwire.events import header
from faultwire.wire.recognition import size_limit
from faultwire.wire.recognition.placeholders import unkeyed

if TYPE_CHECKING:
    from typing import Protocol

    from faultwire.events import Kind, Request

    class VolatilePlaces(Protocol):
        """What of a request differs between runs: a `wire.protocol.Protocol` says it."""

        @property
        def volatile(self) -> tuple[str, ...]:
            """JSON paths in the body."""

        @property
        def volatile_query(self) -> frozenset[str]:
            """Query fields, in lower case."""

        @property
        def volatile_path(self) -> tuple[str, ...]:
            """Parts of a path behind which a minted id stands."""


_ABOUT_THE_CALL = (
    "conversation",
    "idempotency_key",
    "metadata",
    "previous_interaction_id",
    "previous_response_id",
    "prompt_cache_key",
    "request_id",
    "safety_identifier",
    "session_id",
    "thread.previous_message_id",
    "timestamp",
    "user",
)
_IN_THE_HISTORY = (
    "contents.*.parts.*.functionCall.id",
    "contents.*.parts.*.functionResponse.id",
    "input.*.call_id",
    "input.*.id",
    "messages.*.content.*.id",
    "messages.*.content.*.toolResult.toolUseId",
    "messages.*.content.*.toolUse.toolUseId",
    "messages.*.content.*.tool_use_id",
    "messages.*.id",
    "messages.*.tool_call_id",
    "messages.*.tool_calls.*.id",
)
VOLATILE = tuple(f"$.{path}" for path in (*_ABOUT_THE_CALL, *_IN_THE_HISTORY))
"""Places in a model request that differ between runs of the same agent: ids that somebody minted, and
words about the call. What a tool or another server is asked is never masked: there `id` is the question."""

_END = 1 << 20

_SIGNING = frozenset({"_", "nonce", "sig", "signature", "timestamp", "ts"})
"""Query fields that differ with every call, anywhere. `x-amz-…` are a signature's."""
_OF_A_MODEL = _SIGNING | {"access_token", "api_key", "apikey", "key", "token"}
"""Those of a model's API, where the credential may stand in the query."""


def fingerprint(
    request: Request, kind: Kind, protocol: VolatilePlaces | None = None, also: tuple[str, ...] = ()
) -> str:
    """SHA-256 (hex) of what was asked: kind, method, host, path and canonical body, volatile parts masked.

    What is volatile in a request to anybody but a model, its `protocol` says; `also` are further places
    in the body that count for nothing.
    """
    masked, fields = (VOLATILE, _OF_A_MODEL) if kind == "llm" else ((), _SIGNING)
    if protocol is not None and kind != "llm":
        masked, fields = protocol.volatile, fields | protocol.volatile_query
    body = _of_body(request, (*masked, *also) if also else masked)
    host = request.host.lower().rstrip(".")
    path = _stable_path(request.path, fields)
    for before in protocol.volatile_path if protocol is not None else ():
        path = _without_id(path, before)
    return _digest("exchange", kind, request.method, host, path, body)


@lru_cache(maxsize=256)
def _mask(masked: tuple[str, ...]) -> _core.JsonMask:
    return _core.JsonMask(masked)


def _of_body(request: Request, masked: tuple[str, ...]) -> str:
    """The digest of a body; of one that is too heavy to be read at once, that of its declared length, and of
    the two ends of its beginning: while it goes on, no more is held of it."""
    body = request.body or b""
    if len(body) <= size_limit.MOST or not size_limit.is_heavy(body):
        return _mask(masked).fingerprint(body)
    length = header(request.headers, "content-length") or ""
    first, last = body[:_END], body[: size_limit.UNREAD][-_END:]
    return _digest("heavy", length, _core.sha256_hex(first), _core.sha256_hex(last))


def tool_key(name: str | None, arguments: str) -> str:
    """SHA-256 (hex) of a tool call: its name and canonical arguments."""
    text = unkeyed(arguments.encode("utf-8", "surrogatepass"))
    return _digest("tool", name or "", _core.json_fingerprint(text, []).hex())


def _digest(*parts: str) -> str:
    """Parts joined length-prefixed, so that no two different tuples hash the same text."""
    text = ""
    for part in parts:
        text += f"{len(part)}:{part}"
    if text.isascii():  # as nearly always: then it has as many bytes as characters
        return _core.sha256_hex(text.encode())
    encoded = [part.encode("utf-8", "surrogatepass") for part in parts]
    return _core.sha256_hex(b"".join([b"%d:%b" % (len(part), part) for part in encoded]))


def _stable_path(path: str, volatile: frozenset[str]) -> str:
    bare, _, query = path.partition("?")
    if not query:
        return bare
    kept: list[str] = []
    for pair in query.split("&"):
        name = pair.partition("=")[0].lower()
        if pair and name not in volatile and not name.startswith("x-amz-"):
            kept.append(pair)
    return f"{bare}?{'&'.join(kept)}" if kept else bare


def _without_id(path: str, before: str) -> str:
    """The path with what stands behind `before`, up to the next delimiter, taken out."""
    head, found, rest = path.partition(f"{before}/")
    if not found:
        return path
    end = min((at for mark in "/:?" if (at := rest.find(mark)) >= 0), default=len(rest))
    return head + found + rest[end:]
