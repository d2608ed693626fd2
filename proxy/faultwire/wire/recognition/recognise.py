"""What a request's head and body say about its protocol, for the protocols to share.

Paths are matched by suffix after any gateway's prefix, on any host and port; the query says nothing
(reference: the providers' own SDKs, and the servers that imitate them).
"""

from __future__ import annotations

from functools import cache, lru_cache
from typing import TYPE_CHECKING, Any

from faultwire.errors import WireError
from faultwire.wire import json_bytes
from faultwire.wire.recognition import size_limit
from faultwire.wire.recognition.declared import declared

if TYPE_CHECKING:
    from faultwire.events import Request

_NOT_MODEL_TRAFFIC = (
    "/batch",
    "/batches",
    "/capture",
    "/events",
    "/feedback",
    "/files",
    "/ingest",
    "/ingestion",
    "/log",
    "/logs",
    "/metrics",
    "/moderations",
    "/multipart",
    "/runs",
    "/spans",
    "/traces",
    "/track",
)
"""Endings of paths under which tracing, telemetry and the like are sent: they carry whole conversations,
and are none. What the helpers of a protocol end in, it declares itself (`Protocol.settled`)."""


def bare_path(request: Request) -> str:
    """The path without query and trailing slash."""
    return request.path.partition("?")[0].rstrip("/")


@lru_cache(maxsize=1024)
def provider_of(host: str) -> str | None:
    """The provider that runs a host, None where it is nobody's that we know."""
    name = host.lower().rstrip(".")
    for domain, provider in declared().hosts:
        if name.endswith(domain) and (domain[0] == "-" or name[: -len(domain)][-1:] in ("", ".")):
            return provider
    return None


def is_settled(path: str) -> bool:
    """Does the path alone say what the request is?"""
    return path.endswith(_settled()) or ":" in path.rpartition("/")[2]


@cache
def _settled() -> tuple[str, ...]:
    return (*_NOT_MODEL_TRAFFIC, *declared().settled)


def is_contested(path: str) -> bool:
    """Do services of other kinds have this path, too, so that the body decides?"""
    return path.endswith(declared().by_body)


def document(body: bytes | None) -> json_bytes.Object | None:
    """The body, parsed, where it is a JSON object that can be read at once; else None."""
    if body is None or size_limit.is_heavy(body):
        return None
    try:
        return json_bytes.load_object(body)
    except WireError:
        return None


def conversation(body: bytes | None) -> json_bytes.Object | None:
    """The body, parsed, where it holds `messages` with roles; else None."""
    if body is None or b'"messages"' not in body:
        return None
    found = document(body)
    messages = json_bytes.member(found, "messages")
    if not isinstance(messages, list) or not messages:
        return None
    with_roles = all(isinstance(m, dict) and isinstance(m.get("role"), str) for m in messages)
    return found if with_roles else None


def speaks_anthropic(asked: json_bytes.Object) -> bool:
    """Does a conversation hold what only Anthropic's protocol has?"""
    if "max_tokens" not in asked:
        return False
    return "system" in asked or any(
        block.get("type") in ("tool_use", "tool_result")
        for _, message in json_bytes.objects(asked.get("messages"))
        for _, block in json_bytes.objects(_content(message))
    )


def _content(message: json_bytes.Object) -> Any:
    return message.get("content")
