"""A stage and an agent in memory, for what is built on `play`."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from faultwire.agents._api import Asked
from faultwire.events import AgentResult, History, Recorded, Request


@dataclass(frozen=True)
class Closed:
    """What an engine says of a session that went well."""

    voids: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    replay: None = None


@dataclass
class Room:
    """Answers by a function of what was asked and how often; one exchange in each session."""

    answers: Callable[[Asked, int], str]
    network: bool = False
    resets: bool = False
    concurrent: bool = True
    label: str = "an agent in memory"
    asked: list[Asked] = field(default_factory=list)
    stops_after: int | None = None
    """Ctrl-C comes after so many invocations."""
    _counts: Counter[tuple[str, ...]] = field(default_factory=Counter)
    _lock: Any = field(default_factory=threading.Lock)

    def open_session(self, name: str, profile: Any, seed: int) -> dict[str, str]:
        return {"SESSION": name, "SEED": str(seed)}

    def close_session(self, name: str, bypassed: Any = (), more: int = 0) -> Closed:
        return Closed()

    def history(self, name: str) -> History:
        request = Request("POST", "https", "h", 443, "/")
        values = dict.fromkeys(("protocol", "provider", "tool", "upstream", "delivered", "error"))
        one = Recorded(
            session=name, number=1, kind="llm", request=request, ending="complete", attempt=0, started_ms=0,
            duration_ms=0, **values,
        )  # fmt: skip
        return History(name, (one,))

    def reset(self, env: Any) -> None:
        return

    def stop(self) -> None:
        return

    def invoke(self, asked: Asked, env: Any) -> AgentResult:
        with self._lock:
            if self.stops_after is not None and len(self.asked) >= self.stops_after:
                raise KeyboardInterrupt
            self.asked.append(asked)
            self._counts[asked.turns] += 1
            count = self._counts[asked.turns]
        return AgentResult(self.answers(asked, count), 0, 0.01)
