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


UPWARD = frozenset(("on_response_head", "on_data", "on_end", "over"))
"""The hooks that are asked from the last stage up. `on_message` goes down for a client, up for a server."""


class StageList:
    """The stages of one exchange: of these types, those that may have something to do on it. `hooks` names
    for each hook the places in `all` of the stages that override it, in the order in which they are asked.

    Whoever asks them goes through the places itself: a list made for each hook was a tenth of the calls of
    an exchange.
    """

    __slots__ = ("all", "hooks")

    def __init__(self, types: Sequence[type[Stage]], state: ExchangeState) -> None:
        made: list[Stage] = []
        for kind in types:
            if kind.wanted is Stage.wanted or kind.wanted(state):
                made.append(kind(state))
        self.all = made
        self.hooks = _overriding(tuple(map(type, made)))


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
    found = {
        hook: tuple(at for at, kind in enumerate(types) if getattr(kind, hook) is not getattr(Stage, hook))
        for hook in HOOKS
    }
    return {hook: places[::-1] if hook in UPWARD else places for hook, places in found.items()}
