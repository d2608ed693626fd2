"""Passes the messages of both ends of a WebSocket to the pipeline and the recording at the same time."""

from __future__ import annotations

from typing import TYPE_CHECKING

from faultwire.events import Message, Send

if TYPE_CHECKING:
    from collections.abc import Iterator

    from faultwire.events import Action, Side
    from faultwire.exchange.pipeline import ExchangePipeline
    from faultwire.tape.record.recorder import Recording

OTHER: dict[Side, Side] = {"client": "server", "server": "client"}


class PendingMessage:
    """A message on its way, from when it came until its fate is known."""

    __slots__ = ("at_ns", "by", "data", "text")

    def __init__(self, by: Side, data: bytes, at_ns: int, *, text: bool) -> None:
        self.by: Side = by
        self.data = data
        self.text = text
        self.at_ns = at_ns


class RecordedWebSocket:
    """The messages of one session. Whatever is still on its way when it closes was not delivered."""

    def __init__(self, pipeline: ExchangePipeline, recording: Recording | None) -> None:
        self._passage = pipeline
        self._recording = recording
        self._waiting: dict[PendingMessage, None] = {}

    def passed(self, by: Side, data: bytes, *, text: bool) -> None:
        """A message that nobody asks about, and that is sent on at once."""
        if self._recording is not None:
            now = self._recording.now()
            self._recording.message(Message(by, "text" if text else "binary", data, now, now))

    def received(self, by: Side, data: bytes, *, text: bool) -> PendingMessage:
        """A message has come; `message` says what becomes of it, once it is its turn."""
        pending = PendingMessage(by, data, self._now(), text=text)
        self._waiting[pending] = None
        return pending

    def message(self, pending: PendingMessage) -> Iterator[Action]:
        """What to do in place of passing it on."""
        matched, parts = False, b""
        for action in self._passage.message(pending.data, text=pending.text, by=pending.by):
            if isinstance(action, Send):
                parts += action.data
                text = pending.text if action.text is None else action.text
                if not action.more:
                    same = (action.to, parts, text) == (OTHER[pending.by], pending.data, pending.text)
                    if same and not matched:
                        matched = True
                        self._record(pending.by, parts, pending.at_ns, self._now(), text=text)
                        self._waiting.pop(pending, None)
                    else:
                        self._record(OTHER[action.to], parts, None, self._now(), text=text)
                    parts = b""
            yield action
        if self._waiting.pop(pending, pending) is None:
            self._record(pending.by, pending.data, pending.at_ns, None, text=pending.text)

    def finish(self) -> Iterator[Action]:
        """What to do before the server's Close is passed on."""
        for action in self._passage.finish():
            if isinstance(action, Send):
                self._record(OTHER[action.to], action.data, None, self._now(), text=action.text is not False)
            yield action

    def ended(self, by: Side, code: int, reason: str, *, sent: bool = True, delivered: bool = True) -> None:
        """A Close frame, or the end of a connection without one (code 1006)."""
        if self._recording is not None:
            now = self._recording.now()
            instants = (now if sent else None, now if delivered else None)
            self._recording.message(Message(by, "close", reason.encode(), *instants, code=code))

    def close(self) -> None:
        """It is over."""
        for pending in self._waiting:
            self._record(pending.by, pending.data, pending.at_ns, None, text=pending.text)
        self._waiting.clear()

    def _now(self) -> int:
        return self._recording.now() if self._recording is not None else 0

    def _record(self, by: Side, data: bytes, sent: int | None, delivered: int | None, *, text: bool) -> None:
        if self._recording is not None:
            self._recording.message(Message(by, "text" if text else "binary", data, sent, delivered))
