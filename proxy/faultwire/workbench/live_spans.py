"""Exports a span for each logical call as it ends; its attempts and their faults are events of it.

Names are those of the GenAI semantic conventions (`tape.export.spans` has the version). A call that failed
may be tried again: its span waits so long for the next attempt.
"""

from __future__ import annotations

import queue
import threading
from collections import OrderedDict
from dataclasses import replace
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from faultwire import clock
from faultwire.errors import TapeError
from faultwire.tape.export.otlp import exporter_to
from faultwire.tape.export.spans import exchange_span, session_ids, spans
from faultwire.tape.read.reader import TapeReader

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

    from faultwire.events import Recorded
    from faultwire.tape.export.spans import Span, Value

RETRY_S = 10.0
"""Seconds that a failed call waits for its next attempt; SDKs wait 8 at most by their own count."""
BATCH = 256
WAITING = 20_000
"""Spans that wait for the endpoint; more are dropped, and counted."""
Call = tuple[str, str, int]


class Calls:
    """Gathers attempts into calls. Pure: instants are handed in, in seconds."""

    def __init__(self, origin: str) -> None:
        self._origin = origin
        self._open: OrderedDict[Call, tuple[float, list[Recorded]]] = OrderedDict()

    def take(self, recorded: Recorded, now: float) -> list[Span]:
        """An exchange has ended; the spans that are known with it."""
        call = (recorded.session, recorded.key, recorded.n)
        _, attempts = self._open.pop(call, (now, []))
        attempts.append(recorded)
        if _is_done(recorded):
            return [call_span(self._origin, attempts)]
        self._open[call] = (now, attempts)
        return []

    def due(self, now: float, after_s: float = RETRY_S) -> list[Span]:
        """The spans of failed calls that nobody tried again for so long."""
        over = [call for call, (since, _) in self._open.items() if now - since >= after_s]
        return [call_span(self._origin, self._open.pop(call)[1]) for call in over]


def _is_done(recorded: Recorded) -> bool:
    got = recorded.delivered
    return recorded.ending == "complete" and got is not None and got.status < 400


def call_span(origin: str, attempts: Sequence[Recorded]) -> Span:
    """The span of a call: its last attempt's, from its first one on."""
    first, last = attempts[0], attempts[-1]
    trace, root = session_ids(origin, last.session)
    span = exchange_span(last, trace, root)
    events: list[tuple[str, dict[str, Value]]] = []
    instants: list[int] = []
    for recorded in attempts:
        about: dict[str, Value] = {
            "faultwire.exchange": recorded.number,
            "http.request.resend_count": recorded.attempt,
            "faultwire.ending": recorded.ending,
        }
        if recorded.delivered is not None:
            about["http.response.status_code"] = recorded.delivered.status
        events.append(("faultwire.attempt", about))
        instants.append(recorded.started_ms * 1_000_000)
        for fault in recorded.faults:
            if fault.outcome == "fired":
                fired: dict[str, Value] = {
                    "faultwire.fault": fault.fault,
                    "faultwire.fault.id": fault.id,
                    "faultwire.effect": fault.effect or fault.reason,
                    "faultwire.exchange": recorded.number,
                }
                events.append(("faultwire.fault", fired))
                instants.append(recorded.started_ms * 1_000_000)
    about_call = {**span.attributes, "faultwire.attempts": len(attempts)}
    return replace(
        span,
        start_ns=first.started_ms * 1_000_000,
        attributes=about_call,
        events=tuple(events),
        instants=tuple(instants),
    )


class LiveSpans:
    """Sends spans from a thread of its own, so that a slow endpoint holds nothing up. `count` counts them.

    Raises UsageError without the extra.
    """

    def __init__(self, tape: Path, endpoint: str, count: Callable[[int, str], None]) -> None:
        self._tape, self._count = tape, count
        with TapeReader.open(tape) as reader:
            self._calls = Calls(reader.info().origin)
        if urlsplit(endpoint).path in ("", "/"):
            endpoint = f"{endpoint.rstrip('/')}/v1/traces"  # as OTEL_EXPORTER_OTLP_ENDPOINT means it
        self._export = exporter_to(endpoint, "--otel")
        self._queue: queue.Queue[tuple[Recorded, float] | None] = queue.Queue(WAITING)
        self._thread = threading.Thread(target=self._run, name="spans", daemon=True)

    def start(self) -> None:
        """Begin to send."""
        self._thread.start()

    def take(self, recorded: Recorded, _row: Mapping[str, Any]) -> None:
        """An exchange has ended."""
        try:
            self._queue.put_nowait((recorded, clock.monotonic()))
        except queue.Full:
            self._count(1, "dropped")

    def close(self) -> None:
        """Send what is left, and the spans of the sessions."""
        self._queue.put(None)
        if self._thread.is_alive():
            self._thread.join(timeout=15)
        self._export.close()

    def _run(self) -> None:
        made: list[Span] = []
        ended = False
        while not ended:
            ended = self._gather(made)
            made += self._calls.due(clock.monotonic(), 0.0 if ended else RETRY_S)
            if ended:
                made += self._sessions()
            self._send(made)
            made = []

    def _gather(self, made: list[Span]) -> bool:
        """Take what has come within half a second; is it the end?"""
        until = clock.monotonic() + 0.5
        while len(made) < BATCH and (left := until - clock.monotonic()) > 0:
            try:
                found = self._queue.get(timeout=left)
            except queue.Empty:
                return False
            if found is None:
                return True
            try:
                made += self._calls.take(*found)
            except TapeError:
                self._count(1, "unreadable")
        return False

    def _sessions(self) -> list[Span]:
        try:
            return [span for span in spans(self._tape) if not span.client]
        except TapeError:
            return []

    def _send(self, made: list[Span]) -> None:
        for at in range(0, len(made), BATCH):
            batch = made[at : at + BATCH]
            self._count(len(batch), "sent" if self._export(batch) else "refused")
