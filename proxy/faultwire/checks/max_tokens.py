"""The invariant that an invocation does not eat too many tokens."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from pydantic import Field

from faultwire.checks._api import Check, judged, unknown
from faultwire.checks._transcripts import charged
from faultwire.text import counted

if TYPE_CHECKING:
    from faultwire.events import History, Verdict


class MaxTokens(Check):
    """Models read and write at most so many tokens.

    What it judges:
        The tokens of all exchanges with models, as the providers counted them: `input`, `output` or the
        sum of both. Where an answer that came through names no usage the sum is only a lower bound: above
        the limit it fails, below it is unknown.

    Why agents fail it:
        The whole conversation is sent again with each retry, error pages are fed to the model.

    What it cannot tell:
        Tokens of answers that were cut before the provider reported their number.

    Example:
        invariants:
          - {type: max_tokens, max: 20000}
    """

    name = "max_tokens"
    evidence = "requests"
    max: Annotated[int, Field(ge=0, description="tokens at most")]
    of: Annotated[str, Field(pattern="^(input|output|both)$", description="`input`, `output` or `both`")] = (
        "both"
    )

    def judge(self, history: History, answer: str) -> Verdict:
        """Add up."""
        asked = [e for e in history.exchanges if e.kind == "llm" and e.upstream is not None]
        if not any(e.kind == "llm" for e in history.exchanges):
            return unknown("no model was called")
        total, silent, numbers = 0, 0, []
        for exchange in asked:
            usage = charged(history, exchange)
            if usage is None:
                silent += exchange.upstream is not None and exchange.upstream.status < 300
                continue
            numbers.append(exchange.number)
            total += usage.input_tokens * (self.of != "output") + usage.output_tokens * (self.of != "input")
        words = f"{counted(total, 'token')}, allowed are {self.max}"
        if total <= self.max and silent:
            return unknown(f"at least {words}; {counted(silent, 'response')} came without usage", total)
        return judged(total <= self.max, words, total, numbers)
