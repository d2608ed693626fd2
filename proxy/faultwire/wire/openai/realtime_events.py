"""The events by which OpenAI Realtime tells of one output item, from its start to its end."""

from __future__ import annotations

import re  # noqa: TID251 - a fixed, linear pattern
from typing import TYPE_CHECKING, Any

from faultwire.wire.editing import answers as http_answers
from faultwire.wire.openai.realtime_stream import word_key

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

_WORDS = re.compile(r"\s*\S+|\s+")
_ARGUMENT_PIECE = 12
Event = dict[str, Any]


def event_id(*parts: object) -> str:
    """An event's id: the same for the same parts."""
    return http_answers.made_id("event_", *parts, length=21)


def item_events(
    response_id: str,
    index: int,
    item: Event,
    *,
    beta: bool,
    previous: str | None = None,
    audio: Sequence[str] = (),
) -> list[Event]:
    """A finished item as the server tells of it, piece by piece.

    `beta` chooses the names before GA; `audio` is what is sent, in base64, for each piece of an item that
    is spoken.
    """
    about = {"response_id": response_id, "output_index": index}
    begun = {**item, "status": "in_progress"}
    begun["content" if item["type"] == "message" else "arguments"] = [] if item["type"] == "message" else ""
    added = "conversation.item.created" if beta else "conversation.item.added"
    out: list[Event] = [
        {"type": "response.output_item.added", **about, "item": begun},
        {"type": added, "previous_item_id": previous, "item": begun},
    ]
    inside = {**about, "item_id": item["id"]}
    if item["type"] == "message":
        for at, block in enumerate(item["content"]):
            out += _part_events({**inside, "content_index": at}, block, beta=beta, audio=audio)
    else:
        out += _argument_events({**inside, "call_id": item["call_id"]}, item)
    out.append({"type": "response.output_item.done", **about, "item": item})
    if not beta:
        out.append({"type": "conversation.item.done", "previous_item_id": previous, "item": item})
    return [
        {"type": event["type"], "event_id": event_id(response_id, item["id"], at), **event}
        for at, event in enumerate(out)
    ]


def _part_events(inside: Event, block: Event, *, beta: bool, audio: Sequence[str]) -> Iterator[Event]:
    key = word_key(block) or "text"
    spoken = key == "transcript"
    words = block.get(key) or ""
    part = {"type": "audio" if spoken else "text", key: words}
    stem = "response." if beta else "response.output_"
    name = f"{stem}audio_transcript" if spoken else f"{stem}text"
    yield {"type": "response.content_part.added", **inside, "part": {**part, key: ""}}
    for piece in _WORDS.findall(words):
        yield {"type": f"{name}.delta", **inside, "delta": piece}
    for sound in audio if spoken else ():
        yield {"type": f"{stem}audio.delta", **inside, "delta": sound}
    if spoken:
        yield {"type": f"{stem}audio.done", **inside}
    yield {"type": f"{name}.done", **inside, key: words}
    yield {"type": "response.content_part.done", **inside, "part": part}


def _argument_events(inside: Event, item: Event) -> Iterator[Event]:
    text, name = item["arguments"], "response.function_call_arguments"
    for at in range(0, len(text), _ARGUMENT_PIECE):
        yield {"type": f"{name}.delta", **inside, "delta": text[at : at + _ARGUMENT_PIECE]}
    yield {"type": f"{name}.done", **inside, "name": item["name"], "arguments": text}
