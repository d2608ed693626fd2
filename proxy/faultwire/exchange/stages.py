"""The stages of the pipeline in their order, and which of them a profile needs."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

from faultwire.exchange.canaries import CanaryDetector
from faultwire.exchange.deferred_replies import DeferredReplies
from faultwire.exchange.faults import FaultStage
from faultwire.exchange.observers import Observers
from faultwire.exchange.rewrites import PersistentRewrites
from faultwire.exchange.stage import HOOKS, ExchangeState, Stage
from faultwire.exchange.tool_results import ToolResultRewriter
from faultwire.exchange.understanding import Understanding
from faultwire.exchange.websocket_requests import WebSocketRequestRewriter

if TYPE_CHECKING:
    from collections.abc import Sequence

    from faultwire.profile.candidates import Candidates

PASSIVE: tuple[type[Stage], ...] = (DeferredReplies,)
"""The stages of an exchange on which nothing is decided: the replies to others may come in it."""


class StageList:
    """The stages of one exchange: of these types, those that may have something to do on it. Each hook names
    the stages that override it, in the order in which they are asked: `on_response_head`, `on_data`,
    `on_message` of a server and `on_end` from the last one up."""

    __slots__ = ("_hooks", "all")

    def __init__(self, types: Sequence[type[Stage]], state: ExchangeState) -> None:
        wanted = tuple([kind for kind in types if kind.wanted(state)])
        self.all = tuple([kind(state) for kind in wanted])
        self._hooks = _overriding(wanted)

    def down(self, hook: str) -> list[Stage]:
        """The stages that override a hook, first to last."""
        return [self.all[at] for at in self._hooks[hook]]

    def up(self, hook: str) -> list[Stage]:
        """The same, last to first."""
        return [self.all[at] for at in reversed(self._hooks[hook])]


@lru_cache(maxsize=256)
def stage_types(candidates: Candidates) -> tuple[type[Stage], ...]:
    """The stages that the entries of a profile need, from the agent's side to the server's."""
    wanted: dict[type[Stage], bool] = {
        Understanding: True,
        CanaryDetector: True,
        Observers: candidates.replace_results or candidates.name_agents,
        WebSocketRequestRewriter: True,
        ToolResultRewriter: candidates.replace_results,
        FaultStage: True,
        PersistentRewrites: candidates.rewrite_texts,
        DeferredReplies: True,
    }
    return tuple(kind for kind, needed in wanted.items() if needed)


@lru_cache(maxsize=256)
def _overriding(types: tuple[type[Stage], ...]) -> dict[str, tuple[int, ...]]:
    return {
        hook: tuple(at for at, kind in enumerate(types) if getattr(kind, hook) is not getattr(Stage, hook))
        for hook in HOOKS
    }
