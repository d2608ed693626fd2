"""A recorded system of several agents of which one runs: the tape answers in place of all others.

Each agent gets only what it got. A call is the live agent's where its mark is on it, and then only an answer
that was recorded for this agent fits, however alike another one's call may be. Agents that make no call in
this run are played by the tape, and nobody misses their calls.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from faultwire.replay.explain_miss import diagnose
from faultwire.replay.player import Player
from faultwire.replay.request_key import clean

if TYPE_CHECKING:
    from faultwire.events import Request
    from faultwire.replay.answer import Answer
    from faultwire.replay.explain_miss import Divergence
    from faultwire.replay.match import Entry, Index, Missed
    from faultwire.replay.rebind import Rebinder
    from faultwire.replay.settings import ReplaySettings
    from faultwire.tape.redact.redactor import Redactor

NO_MARK = "(unknown)"
"""The word for a caller that no mark tells, as in a topology."""


class LiveAgent(Player):
    """The answers of a tape for one agent that runs, and for those that come with it. With `live_model` its
    calls to models go to their servers, or to the mock where that is what answers."""

    def __init__(
        self,
        index: Index,
        redactor: Redactor,
        rebinder: Rebinder | None,
        settings: ReplaySettings,
        *,
        upstream: bool = False,
    ) -> None:
        super().__init__(index, redactor, rebinder, upstream=upstream, live=settings.on_miss != "fail")
        self._name, self._own_model = settings.live_agent, settings.live_model
        self._made: Counter[str] = Counter()
        """Calls of this run, by who made them."""
        self._onward = 0

    def play(self, request: Request, number: int = 0) -> Answer | Divergence | None:
        """The answer that was recorded for who asks, why there is none, or None for a model that is asked."""
        wanted = self._index.ask(clean(request, self._redactor))
        self._made[wanted.sender or ""] += 1
        if self._own_model and wanted.sender == self._name and wanted.kind == "llm":
            self._onward += 1
            return None
        return super().play(request, number)

    def _diverge(self, missed: Missed, number: int) -> Divergence:
        found = diagnose(self._index, missed, number)
        named = replace(found, reason=_by(missed.asked.sender, found.reason))
        self._miss(named)
        return named

    @property
    def _left(self) -> list[Entry]:
        """What agents that run here did not ask for, although they had."""
        return [entry for entry in super()._left if self._runs(entry) and not self._asks_anew(entry)]

    def _runs(self, entry: Entry) -> bool:
        return entry.sender == self._name or bool(self._made[entry.sender or ""])

    def _asks_anew(self, entry: Entry) -> bool:
        return self._own_model and entry.sender == self._name and entry.recorded.kind == "llm"

    def report(self) -> dict[str, Any]:
        """What was served and what was not, who ran, and whose calls nobody had to make."""
        played = Counter(entry.sender or NO_MARK for entry in self._index.entries if not self._runs(entry))
        live = {
            "agent": self._name,
            "calls": self._made[self._name],
            "onward": self._onward,
            "beside": {
                name or NO_MARK: count for name, count in sorted(self._made.items()) if name != self._name
            },
            "played": dict(sorted(played.items())),
        }
        return {**super().report(), "exact": False, "live": live}


def _by(sender: str | None, reason: str) -> str:
    return f"a call of `{sender}`: {reason}" if sender else f"a call of nobody known: {reason}"
