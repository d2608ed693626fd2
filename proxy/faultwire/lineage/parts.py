"""What an exchange sent and what it brought, as parts with their texts. Encodings of bodies are undone."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qsl, unquote_plus

import orjson

from faultwire import wire
from faultwire.errors import WireError
from faultwire.events import header
from faultwire.lineage.model import Part
from faultwire.wire.framing.content_coding import decoded

if TYPE_CHECKING:
    from collections.abc import Iterator

    from faultwire.events import Delivery, Headers, Recorded, RequestView, ResponseView, ToolCall, Turn
    from faultwire.wire import ConversationHistory

MOST = 256 << 10
"""Characters of one part that are looked at."""
NESTED = 4
"""JSON in strings of JSON, so deep."""
_OF_CLIENTS = frozenset(
    {"accept", "accept-encoding", "accept-language", "api-key", "authorization", "baggage", "connection"}
    | {"content-encoding", "content-length", "content-type", "cookie", "date", "host", "idempotency-key"}
    | {"keep-alive", "priority", "proxy-authorization", "te", "traceparent", "tracestate"}
    | {"transfer-encoding", "user-agent", "via", "x-api-key"}
)
"""Request fields that clients make, or that hold secrets."""


@dataclass(frozen=True, slots=True)
class Text:
    """A part with its leaves: strings and numbers of its document, in order, or one text."""

    part: Part
    leaves: tuple[str, ...]
    raw: str = ""
    """The canonical form of a whole answer or result, by which two are the same."""
    turn: tuple[object, ...] | None = None
    """What makes a message of a conversation the same as another one."""
    call: ToolCall | None = None
    call_id: str | None = None

    @property
    def is_result(self) -> bool:
        """Is it a tool's result in a request to a model?"""
        return self.call_id is not None


@dataclass(frozen=True, slots=True)
class Parts:
    """One exchange taken apart."""

    sent: tuple[Text, ...]
    brought: tuple[Text, ...]
    unread: str | None = None


def parts_of(recorded: Recorded, earlier: ConversationHistory) -> Parts:
    """What an exchange sent and brought, as the agent sent and got it. Of a WebSocket that is the upgrade;
    `messages` has the rest."""
    is_model = recorded.kind == "llm" and not recorded.messages
    transcript = wire.transcript_of(recorded, earlier=earlier) if is_model else None
    unread: list[str] = []
    number = recorded.number
    if transcript is not None and transcript.request is not None:
        sent = tuple(request_texts(number, transcript.request))
    else:
        sent = tuple(_request(recorded, unread))
    if transcript is not None and transcript.answer is not None:
        return Parts(sent, tuple(answer_texts(number, transcript.answer)), _why(unread))
    return Parts(sent, tuple(_response(recorded, unread)), _why(unread))


def _why(unread: list[str]) -> str | None:
    return "; ".join(unread) or None


# ---------------------------------------------------------------- models


def request_texts(number: int, request: RequestView, message: int = 0) -> Iterator[Text]:
    """What a request to a model says; `message` is the number of a WebSocket's, 0 of others."""
    if request.system:
        system = request.system[:MOST]
        part = Part(number, "request", "the system prompt", message, message)
        yield Text(part, (system,), turn=("system", system))
    for at, turn in enumerate(request.turns, 1):
        yield from _turn(number, f"item {at}" if message else f"message {at}", turn, message)


def _turn(number: int, name: str, turn: Turn, message: int) -> Iterator[Text]:
    made = identity(turn.role, turn.text, turn.tool_calls)
    results = {result.text for result in turn.tool_results}
    if (turn.text and turn.text not in results) or turn.tool_calls:
        arguments = (leaf for call in turn.tool_calls for leaf in (call.id, *leaves_of(call.arguments)))
        words = () if turn.text in results else (turn.text[:MOST],)
        yield Text(Part(number, "request", name, message, message), (*words, *arguments), turn=made)
    for result in turn.tool_results:
        leaves, raw = leaves_of(result.text), canonical(result.text)
        of = f"the result of `{result.name}`" if result.name else "a tool's result"
        part = Part(number, "request", of, message, message)
        yield Text(part, leaves, raw, ("result", result.call_id, raw), None, result.call_id)


def identity(role: str, text: str, calls: tuple[ToolCall, ...]) -> tuple[object, ...]:
    """By what a message is known again: its words, and the calls that it makes."""
    role = "assistant" if role in ("assistant", "model", "ai") else role
    return (role, " ".join(text.split()), tuple((call.name, canonical(call.arguments)) for call in calls))


def answer_texts(number: int, answer: ResponseView, first: int = 0, last: int = 0) -> Iterator[Text]:
    """What an answer of a model says; of a WebSocket, in which messages: from `first` to `last`."""
    made = identity("assistant", answer.text, answer.tool_calls)
    if answer.text or not answer.tool_calls:
        text = answer.text or answer.error or ""
        yield Text(Part(number, "answer", "the text", first, last), (text[:MOST],), canonical(text), made)
    for call in answer.tool_calls:
        part = Part(number, "answer", f"the call of `{call.name}`", first, last)
        yield Text(part, (call.id, *leaves_of(call.arguments)), canonical(call.arguments), made, call)


# ---------------------------------------------------------------- everything else


def _request(recorded: Recorded, unread: list[str]) -> Iterator[Text]:
    request = recorded.request
    path, _, query = request.path.partition("?")
    segments = [unquote_plus(one) for one in path.split("/") if one]
    values = [value for _, value in parse_qsl(query, keep_blank_values=False)]
    yield Text(Part(recorded.number, "request", "the address"), (*segments, *values))
    fields = tuple(value for name, value in request.headers if name.lower() not in _OF_CLIENTS)
    if fields:
        yield Text(Part(recorded.number, "request", "a header field"), fields)
    if request.body:
        text = _body(request.body, request.headers, unread)
        yield Text(Part(recorded.number, "request", "the body"), leaves_of(text), canonical(text))


def _response(recorded: Recorded, unread: list[str]) -> Iterator[Text]:
    delivered: Delivery | None = recorded.delivered
    if delivered is None:
        return
    fields = tuple(
        value
        for name, value in delivered.headers
        if name.lower() in ("location", "etag", "mcp-session-id") or name.lower().endswith("-id")
    )
    if fields:
        yield Text(Part(recorded.number, "answer", "a header field"), fields)
    if delivered.body:
        text = _body(delivered.body, delivered.headers, unread)
        yield Text(Part(recorded.number, "answer", "the body"), leaves_of(text), canonical(text))


def _body(body: bytes, headers: Headers, unread: list[str]) -> str:
    try:
        plain, partial = decoded(body, headers)
    except WireError:
        unread.append("a content coding could not be undone")
        return ""
    text = plain.decode("utf-8", "replace")
    if partial or len(text) > MOST:
        unread.append("a body was looked at in part")
    if (header(headers, "content-type") or "").lower().startswith("text/event-stream"):
        lines = (line[5:].strip() for line in text.splitlines() if line.startswith("data:"))
        return "[" + ",".join(_as_json(line) for line in lines) + "]"
    if (header(headers, "content-type") or "").lower().startswith("application/x-www-form-urlencoded"):
        return json.dumps([value for _, value in parse_qsl(text)])
    return text[:MOST] if not text.lstrip().startswith(("{", "[")) else text


def _as_json(line: str) -> str:
    return line if parsed(line) is not None else json.dumps(line)


def parsed(text: str) -> Any:
    """The value of a JSON text that is an object, an array or a string; None of others."""
    stripped = text.strip()
    if not stripped.startswith(("{", "[", '"')):
        return None
    try:
        return orjson.loads(stripped.encode("utf-8", "surrogatepass"))
    except (orjson.JSONDecodeError, UnicodeEncodeError):
        return None


def canonical(text: str) -> str:
    """A text as it is the same for two writers: JSON without blanks and with sorted keys, else words."""
    found = parsed(text)
    if found is not None and not isinstance(found, str):
        return orjson.dumps(found, option=orjson.OPT_SORT_KEYS).decode()
    return " ".join((found if isinstance(found, str) else text).split())


def leaves_of(text: str) -> tuple[str, ...]:
    """The strings and numbers of a JSON text, also of JSON in its strings; else the text itself."""
    found: list[str] = []
    _leaves(parsed(text), text, found, NESTED)
    return tuple(found)


def _leaves(value: Any, text: str, found: list[str], depth: int) -> None:
    if isinstance(value, dict | list):
        for child in value.values() if isinstance(value, dict) else value:
            if isinstance(child, str):
                inner = parsed(child) if depth else None
                _leaves(inner, child, found, depth - 1)
            elif isinstance(child, bool) or child is None:
                continue
            elif isinstance(child, dict | list):
                _leaves(child, "", found, depth)
            else:
                found.append(str(child))
    elif isinstance(value, str):
        found.append(value[:MOST])
    elif text:
        found.append(text[:MOST])
