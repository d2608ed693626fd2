"""The messages of a recorded WebSocket: each of the server's comes after the client's that preceded it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from faultwire import _core

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from faultwire.events import Message

VOLATILE = ("$.event_id", "$.id", "$.item.id")
"""Ids that a client gives to what it says."""


class Script:
    """One recorded dialogue. `clean` gives a live message as a tape would hold it, `explain` says in words
    what was sent in place of what."""

    def __init__(
        self,
        messages: tuple[Message, ...],
        clean: Callable[[bytes], bytes],
        explain: Callable[[bytes, bytes | None], str],
        *,
        upstream: bool = False,
    ) -> None:
        self._messages = [
            message
            for message in messages
            if (message.sent_ns if upstream or message.by == "client" else message.delivered_ns) is not None
        ]
        self._clean, self._explain = clean, explain
        self._at = 0
        self._ahead: int = 0
        self._mine = [n for n, message in enumerate(self._messages) if message.by == "client"]

    def received(self, data: bytes, *, text: bool) -> str | None:
        """The client says its next message; in words what is wrong with it, None where it is the recorded
        one."""
        sent = self._clean(data)
        place = self._mine[self._ahead] if self._ahead < len(self._mine) else None
        expected = self._messages[place] if place is not None else None
        if expected is None or expected.kind == "close":
            return self._explain(sent, None)
        if (expected.kind == "text") != text or _asked(sent) != _asked(expected.data):
            return self._explain(sent, expected.data)
        self._ahead += 1
        return None

    def closed(self) -> None:
        """The client is gone: none of its later messages is waited for."""
        self._ahead = len(self._mine)

    def due(self) -> Iterator[Message]:
        """What the server says now."""
        while self._at < len(self._messages):
            if self._messages[self._at].by == "client":
                if self._ahead < len(self._mine) and self._at >= self._mine[self._ahead]:
                    return
                self._at += 1
                continue
            self._at += 1
            yield self._messages[self._at - 1]


def _asked(data: bytes) -> bytes:
    return _core.json_fingerprint(data, VOLATILE)
