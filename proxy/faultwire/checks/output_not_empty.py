"""The invariant that there is an answer at all."""

from __future__ import annotations

import unicodedata
from collections import Counter
from typing import TYPE_CHECKING

from faultwire.checks._api import Check
from faultwire.events import Verdict

if TYPE_CHECKING:
    from faultwire.events import History

_FEW = 8
"""Invisible characters for each of which an answer is searched: that is faster than to count all."""


class OutputNotEmpty(Check):
    """The agent answers with at least one visible character.

    What it judges:
        The final answer. White space, control characters and invisible ones (zero-width spaces,
        byte-order marks) do not count.

    Why agents fail it:
        An empty `choices` list read as an empty string, a stream cut before its first word, an
        error swallowed on the way.

    What it cannot tell:
        Whether the answer answers the question.

    Example:
        invariants:
          - {type: output_not_empty, severity: high}
    """

    name = "output_not_empty"
    reads_answer = True

    def judge(self, history: History, answer: str) -> Verdict:
        """Count the visible characters."""
        visible = _visible(answer)
        words = f"the answer has {visible} visible characters" if visible else "the answer is empty"
        return Verdict("pass" if visible else "fail", words, visible)


def _visible(answer: str) -> int:
    unseen = [char for char in set(answer) if unicodedata.category(char)[0] in "ZC"]
    if len(unseen) > _FEW:
        counts = Counter(answer)
        return len(answer) - sum(counts[char] for char in unseen)
    return len(answer) - sum(map(answer.count, unseen))
