"""Ids for tool calls of protocols that give them none.

A call's id is derived from all messages before it, so that it has the same id in every later request of
its conversation, and another one in another conversation.
"""

from __future__ import annotations

from faultwire import _core


class Chain:
    """The conversation up to now, as a running digest."""

    def __init__(self) -> None:
        self._digest = ""
        self._open: list[tuple[str, str]] = []

    def add(self, *words: str) -> None:
        """Add a message."""
        text = "\x00".join((self._digest, *words))
        self._digest = _core.sha256_hex(text.encode("utf-8", "replace"))

    def call(self, name: str, arguments: str) -> str:
        """A call was made: its id, by which `answer` finds it."""
        self.add("call", name, arguments)
        made = "call_" + self._digest[:24]
        self._open.append((name, made))
        return made

    def answer(self, name: str) -> str:
        """The id of the oldest call to `name` that has no answer yet; of any tool where it is empty."""
        for at, (called, made) in enumerate(self._open):
            if called == name or not name:
                del self._open[at]
                return made
        self.add("answer", name)
        return "call_" + self._digest[:24]
