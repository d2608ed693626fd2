"""What the dialects have in common: reading JSON, ids, and how words are divided into events."""

from __future__ import annotations

import re  # noqa: TID251 - a fixed, linear pattern
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import orjson

from faultwire import _core
from faultwire.errors import WireError
from faultwire.events import header, with_header
from faultwire.mock._api import Refused
from faultwire.wire.editing import token_budget
from faultwire.wire.json_bytes import load_object

if TYPE_CHECKING:
    from faultwire.events import Request, Response
    from faultwire.mock._api import Conversation, Reply
    from faultwire.wire.protocol import Protocol

CREATED = 1_767_225_600
"""The instant of every answer: 2026-01-01T00:00:00Z. Answers must not depend on the clock."""

_ARGUMENT_PIECE = 12
_WORDS = re.compile(r"\s*\S+|\s+")


def document(protocol: Protocol, body: bytes) -> dict[str, Any]:
    """The request as JSON. Raises Refused (400) where it is none."""
    try:
        return load_object(body)
    except WireError:
        raise Refused(protocol.error(400)) from None


def refuse(protocol: Protocol, message: str, status: int = 400) -> Refused:
    """The provider's error for a request that it does not accept."""
    return Refused(protocol.error(status, message=message))


def with_body(response: Response, body: bytes) -> Response:
    """The response with another body, its length kept true."""
    headers = with_header(response.headers, "content-length", str(len(body)))
    return replace(response, headers=headers, body=body)


def bearer(request: Request) -> bool:
    """Does the request carry a key as `Authorization: Bearer`?"""
    scheme, _, key = (header(request.headers, "authorization") or "").partition(" ")
    return scheme.lower() == "bearer" and bool(key.strip())


def digest(name: str, request: dict[str, Any]) -> str:
    """What names a conversation: the same whether it is streamed or not."""
    relevant = {key: value for key, value in request.items() if key not in ("stream", "stream_options")}
    return _core.sha256_hex(name.encode() + b"\0" + orjson.dumps(relevant, option=orjson.OPT_SORT_KEYS))


def made_id(prefix: str, conversation: Conversation, part: str = "", length: int = 24) -> str:
    """An id that is the same for the same conversation, and another for another part of it."""
    return prefix + _core.sha256_hex(f"{conversation.digest}\0{prefix}\0{part}".encode())[:length]


def made_uuid(conversation: Conversation) -> str:
    """The same in the form of a UUID."""
    made = made_id("", conversation, length=32)
    return "-".join((made[:8], made[8:12], made[12:16], made[16:20], made[20:]))


def words(text: str) -> list[str]:
    """A text in the pieces in which a model streams it."""
    return _WORDS.findall(text)


def pieces(arguments: str) -> list[str]:
    """A call's arguments in the pieces in which a model streams them."""
    return [arguments[at : at + _ARGUMENT_PIECE] for at in range(0, len(arguments), _ARGUMENT_PIECE)]


def limited_text(conversation: Conversation, reply: Reply) -> tuple[str, int, bool]:
    """The text within the request's limit, its tokens, and whether the limit cut it."""
    if conversation.max_tokens is None:
        return reply.text, token_budget.count(reply.text), False
    budget = token_budget.Budget(conversation.max_tokens)
    text = budget.take(reply.text)
    return text, budget.used, budget.spent


read_tokens = token_budget.of_request
"""The tokens of a conversation."""


def positive(value: Any) -> int | None:
    """The value where it is a positive whole number."""
    return value if isinstance(value, int) and not isinstance(value, bool) and value > 0 else None
