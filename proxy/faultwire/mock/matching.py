"""At which point of a conversation a line of a script holds."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pydantic import NonNegativeInt

from faultwire import _core
from faultwire.mock import talk
from faultwire.profile.entry_model import Frozen, Globs

if TYPE_CHECKING:
    from faultwire.mock._api import Conversation


class Match(Frozen):
    """When a turn replies: all keys must fit. `turn` counts the model's earlier messages, from 0."""

    last_user: Globs | None = None
    last_tool: Globs | None = None
    last_result: Globs | None = None
    system: Globs | None = None
    model: Globs | None = None
    turn: NonNegativeInt | None = None

    def fits(self, conversation: Conversation) -> bool:
        """Is the conversation at this point?"""
        view = conversation.view
        result = view.results[-1] if view.results and view.results[-1].new else None
        answered = sum(1 for turn in view.turns if turn.role == "assistant")
        return (
            (self.turn is None or self.turn == answered)
            and _like(self.last_user, talk.current(view)[0].text)
            and _like(self.last_tool, (result.name or "") if result else None)
            and _like(self.last_result, result.text if result else None)
            and _like(self.system, view.system)
            and _like(self.model, view.model)
        )


def _like(globs: Globs | None, value: str | None) -> bool:
    if globs is None:
        return True
    if value is None:
        return False
    return any(_core.glob_match(glob, value) for glob in ((globs,) if isinstance(globs, str) else globs))
