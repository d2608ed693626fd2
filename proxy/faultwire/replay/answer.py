"""The answer of a recorded exchange, ready to be sent again."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal, TypedDict

from faultwire.events import Delivery, Goaway, header
from faultwire.tape.redact.content_coding import Opaque, pack, unpack

if TYPE_CHECKING:
    from faultwire.events import Headers, Message, Recorded
    from faultwire.replay.rebind import Rebinder
    from faultwire.replay.settings import GivenAnswer

Ends = Literal["complete", "cut", "reset", "aborted"]
"""Whole, or ended by a fault as if it were; cut off or reset by a fault; lost on the way."""

_ENDS: dict[str, Ends] = {
    "complete": "complete",
    "closed": "complete",
    "refused": "complete",
    "cut": "cut",
    "reset": "reset",
}


@dataclass(frozen=True, slots=True)
class Answer:
    """A response in pieces: `chunks` are bytes and nanoseconds since the request began. `status` 0: not
    even a head came."""

    status: int
    reason: str
    headers: Headers
    chunks: tuple[tuple[bytes, int], ...]
    trailers: Headers
    ends: Ends
    ended_ns: int
    messages: tuple[Message, ...] = ()
    goaway: Goaway | None = None
    """What a fault had told a client of HTTP/2 before it ..."""
    code: int | None = None
    """... and the code with which a fault had reset its stream."""

    @property
    def size(self) -> int:
        """Bytes of the body."""
        return sum(len(data) for data, _ in self.chunks)


def answer_of(recorded: Recorded, rebinder: Rebinder | None = None, *, upstream: bool = False) -> Answer:
    """What the agent got then; or, with `upstream`, what the server sent, if it was called.

    Raises TapeError where the tape lacks the body.
    """
    found = recorded.delivered
    if upstream and recorded.upstream is not None:
        found = recorded.upstream
    ends = _ENDS.get(recorded.ending, "aborted")
    if recorded.ending == "upstream_aborted" and recorded.upstream is None and found is not None:
        ends = "complete"  # a whole answer of ours reported that nobody answered
    ended_ns = int(recorded.duration_ms * 1e6)
    frames = {} if upstream else _frames(recorded)
    if found is None:
        lost: Ends = "aborted" if ends == "complete" else ends
        return Answer(0, "", (), (), (), lost, ended_ns, **frames)
    chunks = _chunks(found, rebinder)
    about = (found.status, found.reason, found.headers, chunks, found.trailers)
    return Answer(*about, ends, ended_ns, recorded.messages, **frames)


FRAMES = ("goaway", "rst_stream")


class _Frames(TypedDict, total=False):
    goaway: Goaway | None
    code: int | None


def _frames(recorded: Recorded) -> _Frames:
    """What faults said in frames, by the ledger: frames themselves are not on a tape."""
    found: _Frames = {}
    lines = [line for line in recorded.faults if line.fault in FRAMES and line.outcome == "fired"]
    if not lines:
        return found
    from faultwire.faults.connection._frames import CODES  # an engine starts without it

    for line in lines:
        name = line.settings.get("code")
        code = next((number for known, number in CODES.items() if known == name), None)
        if line.fault == "rst_stream":
            found["code"] = code
        else:
            answered = line.settings.get("answered") is True
            found["goaway"] = Goaway(code or CODES["NO_ERROR"], answered)
            if not answered:
                found["code"] = CODES["REFUSED_STREAM"]
    return found


def with_answer(recorded: Recorded, given: GivenAnswer) -> Recorded:
    """The exchange with another answer, for the agent and from the server."""
    delivery = Delivery(given.status, given.reason, given.headers, given.body, given.chunks, given.trailers)
    return replace(recorded, upstream=delivery, delivered=delivery, ending=given.ending, messages=())


def _chunks(found: Delivery, rebinder: Rebinder | None) -> tuple[tuple[bytes, int], ...]:
    body, chunks = found.body, found.chunks
    ends = [end for end, _ in chunks] or [len(body)]
    instants = [at_ns for _, at_ns in chunks] or [0]
    if rebinder is not None:
        recorded_body = body
        body, ends = _rebound(body, ends, rebinder, header(found.headers, "content-encoding") or "")
        rebinder.observe(live=body, recorded=recorded_body)
    if ends[-1] < len(body):
        ends[-1] = len(body)
    starts = [0, *ends]
    pieces = [(body[start:end], at) for start, end, at in zip(starts, ends, instants, strict=False)]
    return tuple(piece for piece in pieces if piece[0])


def _rebound(body: bytes, ends: list[int], rebinder: Rebinder, coding: str) -> tuple[bytes, list[int]]:
    codings = tuple(name for name in (part.strip().lower() for part in coding.split(",")) if name)
    codings = tuple(name for name in codings if name != "identity")
    if not codings:
        return rebinder.live(body, ends)
    try:
        plain = unpack(body, codings)
        new, _ = rebinder.live(plain, [])
        out = body if new == plain else pack(new, codings)
    except Opaque:
        return body, ends
    return out, [end * len(out) // max(len(body), 1) for end in ends]
