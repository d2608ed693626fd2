"""The messages of a WebSocket as parts: what the agent sent, and what it got, each at its instant.

An answer of a model comes in many messages. Its bytes count from the first one that holds words or a call of
it, as those of a streamed answer do: the agent may act before the last.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from faultwire.lineage.model import Part
from faultwire.lineage.parts import MOST, Text, answer_texts, canonical, leaves_of, parsed, request_texts
from faultwire.wire.registry import protocols

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from faultwire.events import Message, Recorded, Turn
    from faultwire.wire.protocol import Protocol

BINARY = "binary messages of a WebSocket are not looked at"
AUDIO = "audio in messages of a WebSocket is not looked at"
_AUDIO = (b'"input_audio_buffer.append"', b"audio.delta")


@dataclass(frozen=True, slots=True)
class Passed:
    """What passed in one direction: the agent's message, or an answer. `at_ms` counts from the tape's zero,
    in whole milliseconds."""

    at_ms: float
    by_agent: bool
    texts: tuple[Text, ...]


def passed(recorded: Recorded) -> tuple[tuple[Passed, ...], str | None]:
    """The messages of a WebSocket in order, and what of them was not looked at."""
    protocol = protocols().get(recorded.protocol or "")
    if protocol is not None and protocol.socket:
        found = tuple(_of_model(recorded, protocol))
    else:
        found = tuple(_of_others(recorded))
    unread = [BINARY] if any(one.kind == "binary" for one in recorded.messages) else []
    texts = (one.data for one in recorded.messages if one.kind == "text")
    if any(mark in data for data in texts for mark in _AUDIO):
        unread.append(AUDIO)
    return found, "; ".join(unread) or None


def _instant(recorded: Recorded, message: Message) -> float | None:
    """When the agent sent it, or could read it; None where a fault made it, or it was lost."""
    ns = message.sent_ns if message.by == "client" else message.delivered_ns
    return None if ns is None else float(int(recorded.started_ms + ns / 1e6))


def _of_others(recorded: Recorded) -> Iterator[Passed]:
    for at, message in enumerate(recorded.messages, 1):
        instant = _instant(recorded, message)
        if message.kind == "text" and instant is not None:
            by_agent = message.by == "client"
            text = message.data.decode("utf-8", "replace")[:MOST]
            part = Part(recorded.number, "request" if by_agent else "answer", "the text", at, at)
            yield Passed(instant, by_agent, (Text(part, leaves_of(text), canonical(text)),))


def _of_model(recorded: Recorded, protocol: Protocol) -> Iterator[Passed]:
    reader, first = protocol.reader(), (0, 0.0)
    last, names = 0, dict[str, str]()
    for at, message in enumerate(recorded.messages, 1):
        instant = _instant(recorded, message)
        if message.kind != "text" or instant is None:
            continue
        if message.by == "client":
            yield Passed(
                instant, by_agent=True, texts=_asked(recorded.number, at, message.data, protocol, names)
            )
            continue
        reader.feed(message.data)
        last = at
        if not first[0]:
            view = reader.view()
            first = (at, instant) if view.text or view.tool_calls or view.error else first
        if protocol.is_terminal(message.data):
            where = first if first[0] else (at, instant)
            view = reader.view()
            names.update((call.id, call.name) for call in view.tool_calls)
            answer = answer_texts(recorded.number, view, where[0], at)
            texts = (*answer, *_name(recorded.number, at, message.data))
            yield Passed(where[1], by_agent=False, texts=texts)
            reader, first = protocol.reader(), (0, 0.0)
    if first[0]:
        texts = tuple(answer_texts(recorded.number, reader.view(), first[0], last))
        yield Passed(first[1], by_agent=False, texts=texts)


def _asked(
    number: int, at: int, data: bytes, protocol: Protocol, names: Mapping[str, str]
) -> tuple[Text, ...]:
    view = protocol.message_view(data)
    if view is not None:
        view = replace(view, turns=tuple(_named(turn, names) for turn in view.turns))
    texts = [] if view is None else list(request_texts(number, view, at))
    document = _document(data) if b'"previous_response_id"' in data else {}
    inner = document.get("response")
    for one in (document, inner if isinstance(inner, dict) else {}):
        if isinstance(named := one.get("previous_response_id"), str) and named:
            part = Part(number, "request", "the id of an earlier answer", at, at)
            texts.append(Text(part, (named,)))
    return tuple(texts)


def _named(turn: Turn, names: Mapping[str, str]) -> Turn:
    """With the tools' names in its results: the calls came in earlier messages."""
    results = (replace(one, name=one.name or names.get(one.call_id)) for one in turn.tool_results)
    return replace(turn, tool_results=tuple(results))


def _name(number: int, at: int, data: bytes) -> Iterator[Text]:
    """The id by which a later message may name this answer: the provider then reads all of it again."""
    response = _document(data).get("response")
    named = response.get("id") if isinstance(response, dict) else None
    if isinstance(named, str) and named:
        yield Text(Part(number, "answer", "the id of the answer", at, at), (named,))


def _document(data: bytes) -> dict[str, Any]:
    found = parsed(data.decode("utf-8", "replace"))
    return found if isinstance(found, dict) else {}
