"""What two answers to one request differ in, piece by piece, and the answer that has some pieces of either.

A piece is a *field* of a JSON body (also of JSON in a string, as tools give it), an *event* of a stream, a
*line* of a text, a *header* field, or the *ending* of the connection.
"""

from __future__ import annotations

from base64 import b64encode
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, Protocol

from faultwire import wire
from faultwire.blame.json_fields import Fields, fields
from faultwire.blame.sequence import Slots, align
from faultwire.errors import WireError
from faultwire.events import Response, header, with_header
from faultwire.replay.settings import GivenAnswer
from faultwire.wire.framing import split as framing
from faultwire.wire.framing.content_coding import decoded

if TYPE_CHECKING:
    from collections.abc import Set as AbstractSet

    from faultwire.events import Delivery, Recorded

Kind = Literal["field", "event", "line", "header", "ending"]
MOST = 2_000
"""Pieces of one answer; what differs in more is not taken apart."""
ENDINGS = ("complete", "cut", "reset")
UNFINISHED = {
    "open": "had not ended when the recording did",
    "client_aborted": "was not read to its end by the agent",
    "upstream_aborted": "was not sent to its end by the server",
    "closed": "was ended early by a fault, as if it were whole",
    "refused": "came on a connection that was refused",
}
"""Why an answer is not taken apart, by how its exchange ended."""
NEW_IN_EACH = frozenset({
    "date", "content-length", "content-encoding", "transfer-encoding", "connection", "keep-alive", "age",
    "etag", "last-modified", "set-cookie", "cf-ray", "server-timing", "openai-processing-ms", "via",
})  # fmt: skip
"""Header fields in which two answers differ in any case, or that say how the body is sent."""
NEW_BEGINNINGS = ("x-ratelimit-", "anthropic-ratelimit-", "x-envoy-", "x-amzn-", "x-faultwire-")


@dataclass(frozen=True, slots=True)
class Piece:
    """One place in which the answers differ: its name, and what either has there, in short."""

    kind: Kind
    name: str
    failed: str
    calm: str


class Body(Protocol):
    """The bodies of both answers as pieces."""

    @property
    def kind(self) -> Kind:
        """What a piece is."""

    @property
    def pieces(self) -> tuple[tuple[str, str, str], ...]:
        """Name, in the failed run, in the calm run."""

    def mixed(self, as_failed: AbstractSet[int]) -> tuple[bytes, ...]:
        """The body with these pieces of the failed run and the others of the calm one, in chunks."""


@dataclass(frozen=True, slots=True)
class Pieces:
    """Both answers, taken apart. `number` is the exchange's of the failed run."""

    number: int
    failed: Recorded
    calm: Recorded
    pieces: tuple[Piece, ...]
    body: Body | None
    headers: tuple[str, ...]
    """The header fields that are pieces; they come after those of the body."""

    def answer(self, as_failed: AbstractSet[int]) -> GivenAnswer:
        """The answer that has these pieces as in the failed run, and the others as in the calm one."""
        if len(as_failed) == len(self.pieces):
            return as_given(self.failed)
        if not as_failed:
            return as_given(self.calm)
        calm, failed = _got(self.calm), _got(self.failed)
        size = len(self.body.pieces) if self.body is not None else 0
        chunks = self._chunks(frozenset(one for one in as_failed if one < size), calm)
        headers = calm.headers
        for at, name in enumerate(self.headers, size):
            if at in as_failed:
                headers = with_header(headers, name, header(failed.headers, name))
        if self.body is not None:
            headers = with_header(headers, "content-encoding", None)
        data = b"".join(chunks)
        if header(headers, "content-length") is not None:
            headers = with_header(headers, "content-length", str(len(data)))
        ends = self.failed if self._ending in as_failed else self.calm
        instants = [at for _, at in calm.chunks] or [0]
        ended, places = 0, list[tuple[int, int]]()
        for at, chunk in enumerate(chunks):
            ended += len(chunk)
            places.append((ended, instants[min(at, len(instants) - 1)]))
        return GivenAnswer(
            status=calm.status, reason=calm.reason, headers=headers, body=b64encode(data),
            chunks=tuple(places), trailers=calm.trailers, ending=_ending(ends),
        )  # fmt: skip

    @property
    def _ending(self) -> int:
        return next((at for at, one in enumerate(self.pieces) if one.kind == "ending"), -1)

    def _chunks(self, as_failed: AbstractSet[int], calm: Delivery) -> tuple[bytes, ...]:
        if self.body is None:
            return (calm.body,) if calm.body else ()
        return tuple(one for one in self.body.mixed(as_failed) if one)


def as_given(recorded: Recorded) -> GivenAnswer:
    """The recorded answer as it came."""
    got = _got(recorded)
    return GivenAnswer(
        status=got.status, reason=got.reason, headers=got.headers, body=b64encode(got.body),
        chunks=got.chunks, trailers=got.trailers, ending=_ending(recorded),
    )  # fmt: skip


def take_apart(failed: Recorded, calm: Recorded) -> Pieces | str:
    """The pieces in which two answers differ, at least one; or why they are one piece."""
    one, other = failed.delivered, calm.delivered
    if one is None or other is None:
        return "one of both runs got no answer"
    if failed.messages or calm.messages:
        return "the messages of a WebSocket are not taken apart"
    if one.status != other.status:
        return f"the status is another one ({one.status} instead of {other.status})"
    if failed.ending not in ENDINGS or calm.ending not in ENDINGS:
        return " and ".join(
            f"the {word} answer {UNFINISHED[one.ending]}"
            for word, one in (("failed", failed), ("calm", calm))
            if one.ending not in ENDINGS
        )
    body = _body(failed, calm, one, other)
    if isinstance(body, str):
        return body
    names = tuple(_header_names(one, other))
    made = [Piece(body.kind, *texts) for texts in body.pieces] if body is not None else []
    made += [
        Piece("header", name, header(one.headers, name) or "", header(other.headers, name) or "")
        for name in names
    ]
    if failed.ending != calm.ending:
        made.append(Piece("ending", "the end of the connection", failed.ending, calm.ending))
    if not made:
        return "the answers differ in nothing but when they came"
    if len(made) > MOST:
        return f"the answers differ in {len(made)} places, more than {MOST}"
    return Pieces(failed.number, failed, calm, tuple(made), body, names)


def _body(failed: Recorded, calm: Recorded, one: Delivery, other: Delivery) -> Body | str | None:
    """The bodies taken apart, None where they are the same."""
    ours, _ = decoded(one.body, one.headers)
    theirs, _ = decoded(other.body, other.headers)
    if ours == theirs:
        return None
    cutters = [_cutter(run, got) for run, got in ((failed, one), (calm, other))]
    if all(cutter is not None for cutter in cutters):
        events = [framing.cut(data, cutter) for data, cutter in zip((ours, theirs), cutters, strict=True)]
        return Slots("event", align(*events), framing.joiner(cutters[0]) is not None)
    if any(cutter is not None for cutter in cutters):
        return "one of both is a stream"
    return _whole(ours, theirs)


def _whole(ours: bytes, theirs: bytes) -> Fields | Slots | str | None:
    try:
        return fields(ours, theirs)
    except WireError:
        pass
    try:
        texts = [data.decode() for data in (ours, theirs)]
    except UnicodeDecodeError:
        return "the answers are neither JSON nor text"
    if any(text.lstrip()[:1] in ("{", "[") for text in texts):
        return "one of both is no JSON, or nested too deeply"
    return Slots("line", align(ours.splitlines(keepends=True), theirs.splitlines(keepends=True)), joins=False)


def _cutter(recorded: Recorded, got: Delivery) -> framing.Splitter | None:
    protocol = wire.protocols().get(recorded.protocol or "")
    response = Response(got.status, got.reason, got.headers, got.body)
    return framing.splitter_of(response, protocol, recorded.request)


def _header_names(one: Delivery, other: Delivery) -> list[str]:
    names = dict.fromkeys(name.lower() for name, _ in (*one.headers, *other.headers))
    return [
        name
        for name in names
        if name not in NEW_IN_EACH
        and not name.startswith(NEW_BEGINNINGS)
        and not name.endswith(("request-id", "-id"))
        and header(one.headers, name) != header(other.headers, name)
    ]


def _got(recorded: Recorded) -> Delivery:
    assert recorded.delivered is not None
    return recorded.delivered


def _ending(recorded: Recorded) -> Literal["complete", "cut", "reset"]:
    return "cut" if recorded.ending == "cut" else "reset" if recorded.ending == "reset" else "complete"
