"""Where a recorded answer holds placeholders: there it is not what was delivered when it was recorded.

A replay gives the agent the tape's bytes. What was redacted is on no tape, so an agent that uses such a value
(a key in a tool's arguments, say) may go another way than it did.
"""

from __future__ import annotations

import re  # noqa: TID251 - fixed patterns
from base64 import b64decode
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import orjson

from faultwire.events import header
from faultwire.tape.redact.content_coding import Opaque, unpack
from faultwire.tape.redact.edit import MARK
from faultwire.tape.redact.headers import codings

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from faultwire.replay.answer import Answer

_MARK = MARK.encode()
_BASE64 = re.compile(rb"[A-Za-z0-9+/]{56,}={0,2}")
PLACES = 5
"""Places in one answer that are named."""


@dataclass(frozen=True, slots=True)
class Altered:
    """What of an answer is placeholders: places of its body or messages, and names of header fields."""

    body: tuple[str, ...]
    headers: tuple[str, ...]


def altered(answer: Answer) -> Altered | None:
    """What of an answer is placeholders; None where nothing is."""
    fields = [name.lower() for name, value in (*answer.headers, *answer.trailers) if MARK in value]
    places = [*_in_body(answer), *_in_messages(answer)]
    if not (fields or places):
        return None
    return Altered(tuple(places[:PLACES]), tuple(dict.fromkeys(fields)))


def remarks(report: Mapping[str, Any] | None) -> tuple[str, ...]:
    """What a reader of the run's report must know of its replay, in a sentence or none."""
    found = report["redacted"] if report else None
    if not found or not found["answers"]:
        return ()
    count = found["answers"]
    answers = "1 recorded answer holds" if count == 1 else f"{count} recorded answers hold"
    calls = [one["call"] for one in found["calls"] if one["body"]]
    more = count - len(calls[:PLACES])
    return (
        f"{answers} placeholders in place of redacted values, so this replay is not exact: "
        f"{', '.join(calls[:PLACES])}{f' and {more} more' if more else ''}",
    )


def _in_body(answer: Answer) -> list[str]:
    body = b"".join(data for data, _ in answer.chunks)
    coding = header(answer.headers, "content-encoding")
    if coding is not None and not body.startswith(_MARK):
        try:
            body = unpack(body, codings([coding]))
        except Opaque:
            return []  # a tape holds no body that its recorder could not unpack
    if not _holds(body):
        return []
    try:
        document = orjson.loads(body)
    except orjson.JSONDecodeError:
        return ["body"]
    return list(_places(document)) or ["body"]


def _in_messages(answer: Answer) -> Iterator[str]:
    for number, message in enumerate(answer.messages, start=1):
        if message.by == "server" and _holds(message.data):
            yield f"message {number}"


def _holds(data: bytes) -> bool:
    """Is there a placeholder, in the open or in Base64?"""
    if _MARK in data:
        return True
    return any(_MARK in b64decode(run[: len(run) // 4 * 4]) for run in _unpadded(data))


def _unpadded(data: bytes) -> Iterator[bytes]:
    return (found[0].rstrip(b"=") for found in _BASE64.finditer(data))


def _places(document: Any) -> Iterator[str]:
    """Where a placeholder stands in a JSON document, as paths in document order."""
    todo: list[tuple[str, Any]] = [("$", document)]
    while todo:
        path, value = todo.pop()
        if isinstance(value, str):
            if _holds(value.encode("utf-8", "surrogatepass")):
                yield path
        elif isinstance(value, dict):
            todo += [(f"{path}.{key}", one) for key, one in reversed(value.items())]
        elif isinstance(value, list):
            todo += [(f"{path}[{at}]", value[at]) for at in range(len(value) - 1, -1, -1)]
