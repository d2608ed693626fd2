"""Walks through the conversations of a history that do not begin anew with each request."""

from __future__ import annotations

from typing import TYPE_CHECKING, Generic, TypeVar

if TYPE_CHECKING:
    from collections.abc import Sequence

    from faultwire.events import Turn

State = TypeVar("State")

_MOST = 4
"""Conversations that are kept in mind."""


class Walked(Generic[State]):
    """How far earlier walks came and what they knew there; the next request's begins with the same turns.

    Turns that were read once (`wire.ConversationHistory`) are the same objects in later requests: by them a
    walk is found again, and a conversation that was read anew is walked anew.
    """

    def __init__(self) -> None:
        self._kept: list[tuple[Sequence[Turn], State]] = []

    def resume(self, turns: Sequence[Turn]) -> tuple[int, State | None]:
        """How many of these turns need not be walked through, and what was known behind them."""
        for at, (past, state) in enumerate(self._kept):
            size = len(past)
            if size <= len(turns) and turns[size - 1] is past[-1] and turns[:size] == past:
                del self._kept[at]
                return size, state
        return 0, None

    def keep(self, past: Sequence[Turn], state: State) -> None:
        """What is known behind these turns, of which there is at least one."""
        self._kept = [(past, state), *self._kept[: _MOST - 1]]

    def forget(self) -> None:
        """What was known holds no longer."""
        self._kept = []


def last_word(turns: Sequence[Turn], first: int) -> int:
    """Where the model's last word stands among the turns from `first` on, -1 where it says nothing there.

    What stands before it and it itself stay as they are in later requests."""
    for at in range(len(turns) - 1, first - 1, -1):
        if turns[at].role == "assistant":
            return at
    return -1
