"""The history in a request to a model: its messages in order, in turns and rounds.

A turn is a message of the user with everything up to the next one; a round is what the model said at once,
with the results of the tools that it called. Both hold calls together with their results, so that a history
whose turns or rounds are left out or moved is one that the provider still accepts.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from faultwire import _core, wire
from faultwire.errors import WireError
from faultwire.events import with_header
from faultwire.wire import json_bytes
from faultwire.wire.editing import shared as shared_edits

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from faultwire.events import Exchange, Request

Kind = Literal["system", "user", "model", "result"]


class Unreadable(Exception):
    """The history is not all there, or holds something of which nobody here knows where it belongs."""

    def __init__(self, why: str) -> None:
        super().__init__(why)
        self.why = why


class Message(NamedTuple):
    """One element of the array of messages: the calls that it makes and those that it answers."""

    kind: Kind
    calls: tuple[str, ...] = ()
    results: tuple[str, ...] = ()


class History(NamedTuple):
    """The messages, what each says, and for each the digest (SHA-256, hex) of all up to it."""

    messages: tuple[Message, ...]
    words: tuple[tuple[str, ...], ...]
    digests: tuple[str, ...]

    def up_to(self, count: int) -> History:
        """Its first messages."""
        return History(self.messages[:count], self.words[:count], self.digests[:count])

    def turns(self) -> list[range]:
        """The places of each turn. What stands before the user's first message is in none."""
        return self._parts(range(len(self.messages)), "user")

    def rounds(self, turn: range) -> list[range]:
        """The places of each round of a turn."""
        return self._parts(turn, "model")

    def _parts(self, places: range, opener: Kind) -> list[range]:
        starts, before = [], "system"
        for at in places:
            kind = self.messages[at].kind
            if kind == opener and before != opener:
                starts.append(at)
            before = before if kind == "system" else kind
        return [range(start, end) for start, end in zip(starts, [*starts[1:], places.stop], strict=False)]

    def is_paired(self, places: range) -> bool:
        """Is every call there answered there, and nothing else?"""
        part = self.messages[places.start : places.stop]
        called = sorted(name for message in part for name in message.calls)
        return called == sorted(name for message in part for name in message.results)


def read(exchange: Exchange, body: bytes | None = None) -> History:
    """The history of the exchange's request, or of what has become of it. Raises Unreadable."""
    data = exchange.request.body if body is None else body
    protocol = wire.protocol(exchange.protocol) if exchange.protocol in ARRAYS else None
    if data is None or protocol is None:
        raise Unreadable("the request has no history that is known")
    array, message_of = ARRAYS[protocol.name]
    try:
        document = json_bytes.load_object(data)
        texts = protocol.edits.texts(data)
    except WireError as error:
        raise Unreadable(error.message) from None
    if any(document.get(name) is not None for name in protocol.conversation_members):
        raise Unreadable("the provider keeps the conversation: its history is not in the request")
    items = document.get(array)
    elements = items if isinstance(items, list) else []
    messages = tuple(message_of(element if isinstance(element, dict) else {}) for element in elements)
    words: list[list[str]] = [[] for _ in messages]
    root = ["history"]
    for text in texts:
        (words[text.turn] if 0 <= text.turn < len(words) else root).extend((text.role, text.text))
    for result in exchange.view.results if exchange.view is not None and body is None else ():
        at = next((part for part in result.path if isinstance(part, int)), 0)
        words[at].extend((result.name or "", result.arguments, result.text))
    spoken = tuple(tuple(one) for one in words)
    return History(messages, spoken, tuple(_digests(root, spoken)))


def is_as_sent(history: History, now: History) -> bool:
    """Do the same messages stand at the same places, whatever else became of their words?"""
    if tuple(now.messages) != history.messages:
        return False
    sent = set(history.words)
    # Results are no part of the words that are read anew; a text that was rewritten is none of the others.
    return not any(
        found != was[: len(found)] and found in sent
        for found, was in zip(now.words, history.words, strict=True)
    )


def places(history: History, now: History) -> list[int]:
    """Where the messages that are there now stood in the history as it was sent, of which some may have been
    left out or moved; of equal ones the newest. Empty where one of them is none of these."""
    if is_as_sent(history, now):
        return list(range(len(history.messages)))
    left = list(range(len(history.messages)))
    found: list[int] = []
    for message, words in zip(reversed(now.messages), reversed(now.words), strict=True):
        at = next(
            (
                at
                for at in reversed(left)
                if history.messages[at] == message and history.words[at][: len(words)] == words
            ),
            None,
        )
        if at is None:
            return []
        left.remove(at)
        found.append(at)
    return found[::-1]


def rearranged(request: Request, protocol: str, order: Sequence[int]) -> Request:
    """The request with these messages in this order, each with the bytes that it had. Raises WireError."""
    body = request.body or b""
    path = (ARRAYS[protocol][0],)
    elements = shared_edits.elements(body, path)
    body = json_bytes.put(body, path, b"[" + b",".join(elements[at] for at in order) + b"]")
    headers = request.headers
    if any(name.lower() == "content-length" for name, _ in headers):
        headers = with_header(headers, "content-length", str(len(body)))
    return replace(request, body=body, headers=headers)


def _digests(root: Iterable[str], words: Iterable[tuple[str, ...]]) -> Iterable[str]:
    so_far = _digest(root)
    for message in words:
        so_far = _digest((so_far, *message))
        yield so_far


def _digest(parts: Iterable[str]) -> str:
    encoded = [part.encode("utf-8", "surrogatepass") for part in parts]
    return _core.sha256_hex(b"".join(b"%d:%b" % (len(part), part) for part in encoded))


# ---------------------------------------------------------------- one message, by protocol

_SYSTEM = ("system", "developer")


def _named(*values: Any) -> tuple[str, ...]:
    return tuple(value for value in values if isinstance(value, str) and value)


def _chat(message: json_bytes.Object) -> Message:
    role = message.get("role")
    if role in _SYSTEM:
        return Message("system")
    if role == "user":
        return Message("user")
    if role == "assistant":
        made = [call.get("id") for _, call in json_bytes.objects(message.get("tool_calls"))]
        return Message("model", _named(*made, json_bytes.member(message, "function_call", "name")))
    if role in ("tool", "function"):
        return Message("result", (), _named(message.get("tool_call_id") or message.get("name")))
    raise _unknown("a message of role", role)


def _responses(item: json_bytes.Object) -> Message:
    kind = json_bytes.string(item.get("type")) or "message"
    if kind == "message":
        role = item.get("role")
        if role in _SYSTEM:
            return Message("system")
        if role in ("user", "assistant"):
            return Message("user" if role == "user" else "model")
        raise _unknown("a message of role", role)
    named = _named(item.get("call_id"))
    if kind == "reasoning" or kind.endswith("_call"):  # hosted tools answer in the call itself
        return Message("model", named)
    if kind.endswith("_output"):
        return Message("result" if named else "model", (), named)
    raise _unknown("an item of type", kind)


def _anthropic(message: json_bytes.Object) -> Message:
    role, blocks = message.get("role"), json_bytes.objects(message.get("content"))
    if role == "assistant":
        made = (block.get("id") for _, block in blocks if block.get("type") == "tool_use")
        return Message("model", _named(*made))
    if role == "user":
        answered = _named(*(b.get("tool_use_id") for _, b in blocks if b.get("type") == "tool_result"))
        return Message("result" if answered else "user", (), answered)
    if role in _SYSTEM:
        return Message("system")
    raise _unknown("a message of role", role)


def _gemini(content: json_bytes.Object) -> Message:
    """Calls have no id in most requests, so a call and its result are matched by the function's name."""
    parts = [part for _, part in json_bytes.objects(content.get("parts"))]
    called = _named(*(_function(part, "functionCall", "function_call") for part in parts))
    answered = _named(*(_function(part, "functionResponse", "function_response") for part in parts))
    if content.get("role") == "model":
        return Message("model", called)
    return Message("result" if answered else "user", (), answered)


def _function(part: json_bytes.Object, *keys: str) -> Any:
    return next((part[key].get("name") for key in keys if isinstance(part.get(key), dict)), None)


def _unknown(what: str, name: object) -> Unreadable:
    shown = name if isinstance(name, str) else "none"
    return Unreadable(f"the history holds {what} `{shown[:40]}`, of which nobody knows what it belongs to")


ARRAYS: dict[str, tuple[str, Callable[[json_bytes.Object], Message]]] = {
    "openai_chat": ("messages", _chat),
    "openai_responses": ("input", _responses),
    "anthropic": ("messages", _anthropic),
    "gemini": ("contents", _gemini),
}
"""By protocol: the member of a request that holds its messages, and what reads one of them."""
