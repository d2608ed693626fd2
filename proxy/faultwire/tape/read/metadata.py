"""What a tape says of itself, of its sessions, and of events that are no exchanges.

The functions take events of the right shape, and raise TypeError or ValueError on what no tape says.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import orjson

from faultwire.tape.read.lazy_bodies import name_of

if TYPE_CHECKING:
    from pathlib import Path

    from faultwire.tape.format.events import Event
    from faultwire.tape.read.lazy_bodies import Fetch


@dataclass(frozen=True, slots=True)
class TapeInfo:
    """What a tape says of itself. Times are milliseconds since the epoch."""

    path: Path
    origin: str
    created_ms: int
    settings: dict[str, Any]


@dataclass(frozen=True, slots=True)
class SessionInfo:
    """One session on a tape; `ended_ms` is None where it was interrupted or still runs."""

    name: str
    profile: str
    profile_digest: str
    seed: int
    agent: str
    started_ms: int
    ended_ms: int | None
    exchanges: int


@dataclass(frozen=True, slots=True)
class Foreign:
    """An event of somebody else's log: `data` is its JSON text, redacted."""

    session: str
    source: str
    kind: str
    number: int | None
    at_ms: int | None
    data: bytes


class Note(NamedTuple):
    """A note to the readers of a tape. `bad`: what it was imported from is not what it claims to be."""

    code: str
    text: str
    bad: bool


def masks_of(settings: dict[str, Any]) -> list[str]:
    """The masks that a tape was recorded with, from what it says of itself."""
    own = settings.get("masks", [])
    return [text for text in own if isinstance(text, str)] if isinstance(own, list) else []


def info(event: Event, path: Path) -> TapeInfo:
    """From the first event."""
    if event["type"] != "tape":
        raise TypeError("the first event says nothing of the tape")
    return TapeInfo(path, event["origin"], event["created_ms"], orjson.loads(event["settings"]))


def note(event: Event) -> Note:
    """From an event of that kind."""
    return Note(str(event["code"]), str(event["text"]), event.get("bad") is True)


def foreign(event: Event, blob: Fetch) -> Foreign:
    """From an event of that kind."""
    data = blob(name_of(event["body"]))
    return Foreign(event["session"], event["source"], event["kind"], event["number"], event["at_ms"], data)


def session(event: Event, ended_ms: int | None, exchanges: int) -> SessionInfo:
    """From the first event of a session; one recorded without `open_session` has no start."""
    if event["type"] != "session_start":
        return SessionInfo(event["session"], "", "", 0, "", event.get("started_ms", 0), ended_ms, exchanges)
    return SessionInfo(
        name=event["session"],
        profile=event["profile"],
        profile_digest=event["profile_digest"],
        seed=int(event["seed"]),
        agent=event["agent"],
        started_ms=event["started_ms"],
        ended_ms=ended_ms,
        exchanges=exchanges,
    )
