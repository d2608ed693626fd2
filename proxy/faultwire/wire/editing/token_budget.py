"""Tokens, counted without a tokenizer, and where a text stops when a model may say only so many."""

from __future__ import annotations

import re  # noqa: TID251 - a fixed, linear pattern
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from faultwire.events import RequestView

_RUN = re.compile(r"(?P<space>\s+)|(?P<word>[^\W\u2E80-\uFFFF]+)|(?P<sign>\S)")
"""Blanks; a word of a script that separates words; or one other character (CJK, punctuation)."""

_Last = Literal["none", "space", "word", "sign"]


class Budget:
    """Counts tokens as words with the blanks before them; about what a tokenizer makes of prose.

    The cut does not depend on how the text was divided into pieces.
    """

    def __init__(self, max_tokens: int) -> None:
        self.max_tokens = max_tokens
        self.used = 0
        self.spent = False
        """Has anything been refused? From then on everything is."""
        self._part: object = None
        self._last: _Last = "none"

    def enter(self, part: object) -> bool:
        """Say the next words in this part (a text, a tool call); False where nothing is left for it."""
        if part != self._part:
            self._part, self._last = part, "none"
            self.spent = self.spent or self.used >= self.max_tokens
        return not self.spent

    def take(self, text: str) -> str:
        """As much of the next piece of text as the budget still allows."""
        if self.spent:
            return ""
        for run in _RUN.finditer(text):
            kind: _Last = run.lastgroup  # type: ignore[assignment]  # the pattern's own group names
            if not self._continues(kind):
                if self.used >= self.max_tokens:
                    self.spent = True
                    return text[: run.start()]
                self.used += 1
            self._last = kind
        return text

    def _continues(self, kind: _Last) -> bool:
        return self._last == "space" or (kind == self._last and kind != "sign")


def count(text: str) -> int:
    """About how many tokens a text has."""
    budget = Budget(len(text) + 1)
    budget.take(text)
    return budget.used


def of_request(view: RequestView) -> int:
    """About how many tokens a conversation has: its words, calls and results, and 3 for each message. What
    tools are offered, and pictures, are not counted."""
    texts = [view.system, *(turn.text for turn in view.turns)]
    texts += [f"{call.name} {call.arguments}" for turn in view.turns for call in turn.tool_calls]
    texts += [result.text for result in view.results]
    return sum(map(count, texts)) + 3 * len(view.turns) + 3
