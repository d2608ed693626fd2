"""What is replayed, and how: the settings that a command hands to the engine."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from pydantic import Base64Bytes, Field

from faultwire.profile.entry_model import Frozen

Tail = Literal["live", "mock", "tape"]
"""Who answers what comes after a fork: the servers, the mock provider, or still the tape."""


class GivenAnswer(Frozen):
    """An answer that takes the recorded one's place: `body` as it goes out, and where its chunks end, with
    nanoseconds since the request began. `ending` other than `complete`: the connection ends with it."""

    status: int = Field(ge=100, le=599)
    reason: str = ""
    headers: tuple[tuple[str, str], ...] = ()
    body: Base64Bytes = b""
    chunks: tuple[tuple[int, int], ...] = ()
    trailers: tuple[tuple[str, str], ...] = ()
    ending: Literal["complete", "cut", "reset"] = "complete"


class SessionAnswers(Frozen):
    """What of the replayed tape answers one session: not the exchanges of `without`, and in place of some
    recorded answers, others."""

    without: tuple[int, ...] = ()
    given: dict[int, GivenAnswer] = Field(default_factory=dict)


class ForkSettings(Frozen):
    """Where a replay leaves its tape: at exchange `at` of `session`.

    `answer` is given there in place of the recorded one; `drop` gives none and ends the connection;
    `fault` says that the session's profile acts there, on the recorded answer. `tail` answers all that
    comes after it. `lineage` is what the new tape says of its parent.
    """

    session: str
    at: int = Field(ge=1)
    tail: Tail
    answer: GivenAnswer | None = None
    drop: bool = False
    fault: bool = False
    lineage: dict[str, object] = Field(default_factory=dict)


class ReplaySettings(Frozen):
    """What is replayed, and how. `timing` times recorded instants: 0 does not wait at all, 1 waits as
    long as it took then. `on_miss` says what becomes of a call without a recorded answer. `sessions` are
    the tape's sessions that answer, by how the names of the engine's begin; without one it is the session of
    the same name, else all of the tape. `live_agent` is the one agent of a recorded system that runs, with
    `live_model` also without the tape's answers of its models; the profile has its marks."""

    tape: Path
    sessions: dict[str, str] = Field(default_factory=dict)
    strict_order: bool = False
    reuse: bool = False
    rebind: bool = True
    masks: tuple[str, ...] = ()
    timing: float = Field(default=0.0, ge=0, le=100)
    on_miss: Literal["fail", "live", "record"] = "fail"
    unverified: bool = False
    fork: ForkSettings | None = None
    live_agent: str = ""
    live_model: bool = False

    def answering(self, session: str) -> str:
        """The tape's session that answers a session of the engine's."""
        if self.fork is not None:
            return self.fork.session
        return next((there for begins, there in self.sessions.items() if session.startswith(begins)), session)

    @property
    def offline(self) -> bool:
        """Is there no way out at all?"""
        stays = self.fork is None or self.fork.tail == "tape"
        return self.on_miss == "fail" and stays and not self.live_model

    def tape_settings(self) -> dict[str, object]:
        """What a tape that is made with it says of itself: how it was made, and which tape answered."""
        if self.fork is not None:
            return {"made_by": "fork", **self.fork.lineage}
        return {"made_by": "replay", "made_of": [{"tape": self.tape.name}]}
