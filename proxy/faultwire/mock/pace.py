"""How fast a model speaks: the first token, then so many a second, never quite evenly.

Pure: the pauses follow from the settings and the conversation, so the same question has the same rhythm.
"""

from __future__ import annotations

from dataclasses import dataclass

from faultwire import dice


@dataclass(frozen=True, slots=True)
class Pace:
    """`first_ms` before the first event; then `between_ms`, or `tokens_per_s` with an event a token.
    Each pause is up to `jitter` of itself longer or shorter (0.3: by 30 %), as `seed` rolls it."""

    first_ms: float = 0.0
    between_ms: float = 0.0
    tokens_per_s: float | None = None
    jitter: float = 0.0
    seed: int = 0

    @property
    def varies(self) -> bool:
        """Are the pauses between events more than one number?"""
        return self.tokens_per_s is not None or self.jitter > 0

    def pauses(self, conversation: str, events: int) -> tuple[float, ...]:
        """Milliseconds before each of so many events of a conversation's answer."""
        between = self.between_ms if self.tokens_per_s is None else 1000 / self.tokens_per_s
        even = (self.first_ms if not at else between for at in range(events))
        return tuple(self._varied(pause, conversation, at) for at, pause in enumerate(even))

    def _varied(self, pause: float, conversation: str, at: int) -> float:
        if not (pause and self.jitter):
            return pause
        unit = dice.unit(self.seed, "mock", "pace", conversation, at)
        return pause * (1 + self.jitter * (2 * unit - 1))
