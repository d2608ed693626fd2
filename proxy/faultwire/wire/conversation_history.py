"""What earlier requests of a session held of a conversation, so that its later ones need not be read whole.

Every request sends all earlier messages to the provider: of a conversation of n turns that is n²/2 of
them. Who reads the requests of a session one after the other reads each turn once.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from faultwire.events import RequestView, ToolCall, Turn

_MOST = 4
"""Conversations that are kept in mind: of agents that talk to their models at the same time."""


class ConversationStart(NamedTuple):
    """The beginning of a conversation, up to and with the model's last word, and what it says.

    `items` are the members of the request's array as they were parsed. Behind such a word nothing that
    stands before it is new any more, so whoever reads on finds these turns as they are.
    """

    items: list[Any]
    turns: tuple[Turn, ...]
    system: tuple[str, ...]
    calls: dict[str, ToolCall]


NOTHING = ConversationStart([], (), (), {})


class ConversationHistory:
    """The beginnings of a session's conversations. Not for use by several threads."""

    def __init__(self) -> None:
        self._starts: dict[str, list[ConversationStart]] = {}
        self._last: dict[str, tuple[bytes, RequestView]] = {}

    def again(self, protocol: str, body: bytes) -> RequestView | None:
        """The previous request's view, where this one is identical, as after a failure."""
        last = self._last.get(protocol)
        return last[1] if last is not None and last[0] == body else None

    def read(self, protocol: str, body: bytes, view: RequestView) -> None:
        """Keep what a request says, for the next one."""
        self._last[protocol] = (body, view)

    def start(self, protocol: str, items: list[Any]) -> ConversationStart:
        """The longest known beginning of these members; `NOTHING` where none is known.

        Values are equal as Python compares them, to which 1 is `true`: a reader that tells these apart
        must not use this.
        """
        best = NOTHING
        for one in self._starts.get(protocol, ()):
            size = len(one.items)
            if len(best.items) < size <= len(items) and _same(items[:size], one.items):
                best = one
        return best

    def keep(self, protocol: str, start: ConversationStart, before: ConversationStart) -> None:
        """Keep a beginning in place of the one from which it was read on."""
        others = [one for one in self._starts.get(protocol, ()) if one is not before]
        self._starts[protocol] = [start, *others[: _MOST - 1]]


def _same(some: list[Any], others: list[Any]) -> bool:
    try:
        return some == others
    except RecursionError:  # nested more deeply than Python compares: then they are read
        return False
