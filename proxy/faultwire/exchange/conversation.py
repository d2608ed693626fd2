"""Which conversation a request belongs to.

Clients resend their history. A request therefore belongs to the conversation of each earlier request whose
messages it begins with, and is known by digests: one for every beginning of its messages. Where the provider
keeps the history, the id of the conversation, or of the answer that the request continues, belongs to it.

A message counts by its role and its words; a tool's result also by the call that it answers. Ids of calls,
marks for caching and all settings of the request count for nothing.
"""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import field
from typing import TYPE_CHECKING, NamedTuple

from faultwire import _core
from faultwire.errors import WireError
from faultwire.plugins.frozen import dataclass
from faultwire.wire.recognition import recognise as recognition
from faultwire.wire.recognition.placeholders import MARK, unkeyed

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from faultwire.events import Path, Request, ToolResult
    from faultwire.wire.editing.api import TextPlace
    from faultwire.wire.protocol import Protocol

AGAIN = "the conversation goes on: what exchange {} changed is changed again"
"""The reason of a ledger's line about what an earlier request of a conversation brought."""
KEPT = 4096
"""Histories whose changed texts are remembered."""


@dataclass(frozen=True, slots=True)
class Conversation:
    """The conversation of one request, by digests (SHA-256 in hex).

    `histories` are those of the beginnings of its messages, the shortest first; the last one is of all of
    them. `chance` is the last one without the ids that a provider minted: it is the same in every run.
    """

    histories: tuple[str, ...]
    chance: str
    body: bytes = field(default=b"", compare=False, repr=False)
    texts: Sequence[TextPlace] = field(default=(), compare=False, repr=False)
    """What was found in the `body`, so that nobody reads it twice."""

    @classmethod
    def of_websocket(cls, number: int, chance: str) -> Conversation:
        """That of a WebSocket, which is a conversation by itself: the exchange with this number."""
        return cls((f"websocket {number}",), chance)


def conversation_of(
    protocol: Protocol, request: Request, results: Iterable[ToolResult]
) -> Conversation | None:
    """The conversation of a request whose texts can be changed, None of any other."""
    body = request.body or b""
    try:
        texts = protocol.edits.texts(body)
    except WireError:
        return None
    if not texts:
        return None
    messages = _messages(texts, results)
    kept = _kept_by_provider(protocol, request)
    histories = _digests(messages, kept)
    return Conversation(histories, _digests(messages, ())[-1] if kept else histories[-1], body, texts)


def _messages(texts: Sequence[TextPlace], results: Iterable[ToolResult]) -> list[tuple[bool, list[str]]]:
    """The messages in order: whether each is a system prompt, and what it says."""
    by_turn: dict[int, list[str]] = {}
    non_system: set[int] = set()
    for text in texts:
        by_turn.setdefault(text.turn, []).extend(("text", text.role, text.text))
        if text.role != "system":
            non_system.add(text.turn)
    for result in results:
        at = _message_of(result.path)
        by_turn.setdefault(at, []).extend(("result", result.name or "", result.arguments, result.text))
        non_system.add(at)
    return [(at not in non_system, by_turn[at]) for at in sorted(by_turn)]


def _message_of(path: Path) -> int:
    """The ordinal of the message in which a path lies."""
    return next((part for part in path if isinstance(part, int)), 0)


def _kept_by_provider(protocol: Protocol, request: Request) -> tuple[str, ...]:
    document = recognition.document(request.body) if protocol.conversation_members else None
    named = ((name, (document or {}).get(name)) for name in protocol.conversation_members)
    return tuple(part for name, value in named if value is not None for part in (name, repr(value)))


def _digests(messages: list[tuple[bool, list[str]]], root: tuple[str, ...]) -> tuple[str, ...]:
    """One digest for each beginning that holds more than system prompts, and one for all."""
    found: list[str] = []
    so_far, non_system = _digest(("conversation", *root)), False
    for is_system, parts in messages:
        so_far = _digest((so_far, *parts))
        non_system = non_system or not is_system
        if non_system:
            found.append(so_far)
    # Two conversations with the same system prompt are no continuation of a request that holds only that.
    return tuple(found) or (_digest((so_far, "whole")),)


def _digest(parts: Iterable[str]) -> str:
    """Parts joined length-prefixed, with placeholders of redacted values made equal on every machine."""
    encoded = [part.encode("utf-8", "surrogatepass") for part in parts]
    joined = b"".join([b"%d:%b" % (len(part), part) for part in encoded])
    if MARK in joined:  # looked for once: a request may have thousands of messages
        encoded = [unkeyed(part) for part in encoded]
        joined = b"".join([b"%d:%b" % (len(part), part) for part in encoded])
    return _core.sha256_hex(joined)


class RewrittenText(NamedTuple):
    """One text that an attack chose to change: its digest, what it becomes, the change in words, and the
    number of the exchange in which it was chosen."""

    digest: str
    text: str
    effect: str
    exchange: int


@dataclass(slots=True)
class RewrittenTexts:
    """The texts that the attacks of a session chose, by the history in which they chose them.

    What an attack chose does not depend on other attacks or on other conversations, so the order in which
    requests arrive changes nothing.
    """

    _chosen: OrderedDict[str, dict[str, tuple[RewrittenText, ...]]] = field(default_factory=OrderedDict)

    def __len__(self) -> int:
        return len(self._chosen)

    def chosen(self, history: str, entry: str) -> tuple[RewrittenText, ...] | None:
        """What an entry chose in exactly this history; None where it has not acted in it."""
        return self._chosen.get(history, {}).get(entry)

    def remember(self, history: str, entry: str, texts: tuple[RewrittenText, ...]) -> None:
        """Keep what an entry chose."""
        self._chosen.setdefault(history, {})[entry] = texts
        self._chosen.move_to_end(history)
        while len(self._chosen) > KEPT:
            self._chosen.popitem(last=False)

    def within(self, histories: Iterable[str]) -> Iterator[tuple[str, dict[str, tuple[RewrittenText, ...]]]]:
        """What was chosen in each of these histories, by entry, in their order."""
        for history in histories:
            found = self._chosen.get(history)
            if found is not None:
                self._chosen.move_to_end(history)
                yield history, found
