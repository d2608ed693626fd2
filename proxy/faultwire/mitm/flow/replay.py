"""Replay in the engine: a tape takes upstream's place, for every session of the engine or for none.

A recorded answer goes the way of one that came: its pieces become the events that mitmproxy would have
made of what a server sent, so faults, framing and recording know no difference.
"""

from __future__ import annotations

from base64 import b64encode
from hashlib import sha1
from typing import TYPE_CHECKING

from mitmproxy import http
from mitmproxy.proxy.layers.http._events import (
    ResponseData,
    ResponseEndOfMessage,
    ResponseHeaders,
    ResponseProtocolError,
    ResponseTrailers,
)

from faultwire import clock
from faultwire.events import header, with_header
from faultwire.faults.tool.recorded_response import RecordedResponse
from faultwire.mitm import compat
from faultwire.mitm.messages import convert
from faultwire.replay.fork import Forked
from faultwire.replay.player import Player
from faultwire.replay.reader import index, open_tape, redaction
from faultwire.replay.rebind import Rebinder
from faultwire.replay.settings import SessionAnswers
from faultwire.tape.redact.redactor import Redactor, load_key
from faultwire.tape.redact.rules import read_rules
from faultwire.wire.framing import split as framing
from faultwire.wire.senders import marks_of

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from mitmproxy.proxy.layers.http._events import HttpEvent

    from faultwire.mitm.sessions.session import Session
    from faultwire.mitm.settings import EngineSettings
    from faultwire.replay.answer import Answer
    from faultwire.replay.settings import ReplaySettings


HANDSHAKE = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11"
"""What a server of WebSockets adds to a client's nonce (RFC 6455 §1.3)."""


class Replays:
    """The tape of an engine, opened and verified, and a player for each of its sessions."""

    def __init__(self, settings: ReplaySettings, redactor: Redactor) -> None:
        self.settings = settings
        self._redactor = redactor
        self._reader = open_tape(settings.tape, unverified=settings.unverified)
        self._players: dict[str, Player] = {}

    @property
    def offline(self) -> bool:
        """Is there no way out at all?"""
        return self.settings.offline

    def open(self, session: Session, answers: SessionAnswers | None = None) -> None:
        """A session begins: every answer is there to be had, but for those of its own."""
        settings, own = self.settings, answers or SessionAnswers()
        entries = session.context.profile.entries
        faulty = any(not isinstance(entry.fault, RecordedResponse) for entry in entries)
        found = index(
            self._reader,
            settings.masks,
            session=settings.answering(session.name),
            strict_order=settings.strict_order,
            reuse=settings.reuse,
            as_forwarded=bool(entries) and not faulty,
            without=own.without,
            marks=marks_of(session.context.profile.agents) if settings.live_agent else (),
        )
        rebinder = Rebinder() if settings.rebind else None
        if settings.fork is not None:
            session.context.state.only = 0
            player: Player = Forked(found, self._redactor, rebinder, settings.fork)
        elif settings.live_agent:
            from faultwire.replay.live_agent import LiveAgent

            player = LiveAgent(found, self._redactor, rebinder, settings, upstream=faulty)
        else:
            live = settings.on_miss != "fail"
            player = Player(found, self._redactor, rebinder, upstream=faulty, live=live, given=own.given)
        self._players[session.name] = player

    def of(self, session: Session) -> Player:
        """The player of an open session."""
        return self._players[session.name]

    def close(self, session: Session) -> dict[str, Any]:
        """A session ends; what was replayed in it, and what was not."""
        report = self._players.pop(session.name).report()
        return {
            "tape": str(self.settings.tape),
            "on_miss": self.settings.on_miss,
            "unverified": self.settings.unverified,
            **report,
        }


def opened(settings: EngineSettings) -> Replays | None:
    """The tape that an engine replays, if it does. Raises TapeError and UsageError."""
    if settings.replay is None:
        return None
    key = load_key(settings.ca_dir.parent / "keys" / "redaction.key")
    rules = read_rules(redaction(settings.replay, settings.redact))
    return Replays(settings.replay, Redactor(key, rules))


class Pacing:
    """How long to wait before what was recorded at an instant is sent again."""

    def __init__(self, factor: float) -> None:
        self._factor = factor
        self._began_ns = clock.monotonic_ns()

    def seconds(self, at_ns: int) -> float:
        """From now on; 0 where it is due."""
        if not self._factor:
            return 0.0
        due = self._began_ns + int(at_ns * self._factor)
        return max(0.0, (due - clock.monotonic_ns()) / 1e9)


def replayed_events(answer: Answer, stream_id: int, request: http.Request) -> Iterator[tuple[int, HttpEvent]]:
    """A recorded answer as the events of a server that says it again, each with its instant."""
    first = answer.chunks[0][1] if answer.chunks else answer.ended_ns
    if answer.status:
        bare = request.method == "HEAD" or answer.status in (204, 304)
        chunks = () if bare else answer.chunks
        message = head(answer, request, bare=bare)
        ends_with_head = answer.ends == "complete" and not (chunks or answer.trailers)
        yield first, ResponseHeaders(stream_id, message, ends_with_head)
        for data, at_ns in chunks:
            yield at_ns, ResponseData(stream_id, data)
    if answer.ends == "complete":
        if answer.trailers:
            yield answer.ended_ns, ResponseTrailers(stream_id, convert.fields_of(answer.trailers))
        yield answer.ended_ns, ResponseEndOfMessage(stream_id)
    elif answer.ends == "aborted":
        lost = "the recorded answer ends here"
        yield answer.ended_ns, ResponseProtocolError(stream_id, lost, compat.KILL)


def head(answer: Answer, request: http.Request, *, bare: bool) -> http.Response:
    """The recorded head, framed for this client: it may speak another version of HTTP than the one that
    was recorded, and redaction may have changed a body's length."""
    headers = answer.headers
    if request.is_http2:
        for name in ("transfer-encoding", "connection", "keep-alive"):
            headers = with_header(headers, name, None)
    stated = header(headers, "content-length")
    if stated is not None and not bare and answer.ends == "complete":
        headers = with_header(headers, "content-length", str(answer.size))
    elif stated is None and not bare and not request.is_http2 and answer.status != framing.SWITCHING:
        chunked = "chunked" if request.http_version != "HTTP/1.0" else None
        headers = with_header(headers, "transfer-encoding", chunked)
    nonce = request.headers.get("sec-websocket-key")
    if answer.status == framing.SWITCHING and nonce is not None:
        headers = with_header(headers, "sec-websocket-accept", _accept(nonce))
    made = http.Response.make(answer.status, b"", convert.fields_of(headers))
    made.headers = convert.fields_of(headers)
    made.reason = answer.reason
    made.http_version = request.http_version
    made.data.content = None
    return made


def _accept(nonce: str) -> str:
    """The answer to a nonce that only this client sent; that of the recorded one would not be taken."""
    return b64encode(sha1((nonce + HANDSHAKE).encode("latin-1"), usedforsecurity=False).digest()).decode()
