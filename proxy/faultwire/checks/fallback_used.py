"""The invariant that there is another way when one is blocked."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from pydantic import Field

from faultwire.checks._api import Check, judged, quoted, unknown
from faultwire.checks._hosts import Places, matched
from faultwire.checks._traffic import failed
from faultwire.checks._transcripts import place, quoted_place, transcript_of

if TYPE_CHECKING:
    from faultwire.events import History, Recorded, Verdict

_Way = tuple[str, str, str]
"""Host, path and model: what another way differs in."""


class FallbackUsed(Check):
    """After a model or tool failed, the agent went another way, and got through.

    What it judges:
        A request of the same kind (`kind`) after a failure, to another host, path or model than the one
        that failed, with a good answer. `to` narrows the other way to places, `model` to one model.

    Why agents fail it:
        A fallback that is configured but never wired up, or that shares the client that is broken.

    What it cannot tell:
        A fallback inside of the agent's process: a cache, a default.

    Example:
        invariants:
          - {type: fallback_used, to: [api.anthropic.com], when: llm_faults_active}
    """

    name = "fallback_used"
    evidence = "failures"
    kind: Annotated[str, Field(pattern="^(llm|tool|agent)$", description="`llm`, `tool` or `agent`")] = "llm"
    to: Annotated[Places, Field(description="places that count; none: any other")] = ()
    model: Annotated[str | None, Field(description="the model that counts; none: any other")] = None

    def judge(self, history: History, answer: str) -> Verdict:
        """Look for another way after a failure."""
        mine = [exchange for exchange in history.exchanges if exchange.kind == self.kind]
        broken = [exchange for exchange in mine if failed(exchange)]
        if not broken:
            return unknown(f"nothing of kind `{self.kind}` failed")
        blocked = {_way(history, exchange) for exchange in broken}
        for exchange in mine:
            if exchange.number <= broken[0].number or failed(exchange) or _way(history, exchange) in blocked:
                continue
            if self.to and matched(exchange, self.to) is None:
                continue
            if self.model is not None and _way(history, exchange)[2] != self.model:
                continue
            words = _went(history, broken[0], exchange)
            return judged(True, words, place(exchange), (broken[0].number, exchange.number))
        words = f"{quoted_place(broken[0])} failed, and no other way was taken with success"
        return judged(False, words, None, [exchange.number for exchange in broken])


def _went(history: History, broken: Recorded, other: Recorded) -> str:
    """From which way to which: the models, where the place is the same."""
    was, became = _way(history, broken), _way(history, other)
    if was[:2] != became[:2]:
        return f"{quoted_place(broken)} failed, {quoted_place(other)} answered"
    first, second = (quoted(model) if model else "a model without a name" for model in (was[2], became[2]))
    return f"{quoted_place(broken)} failed with {first}, and answered with {second}"


def _way(history: History, exchange: Recorded) -> _Way:
    transcript = transcript_of(history, exchange)
    model = transcript.request.model if transcript is not None and transcript.request is not None else ""
    return exchange.request.host, exchange.request.path.split("?", 1)[0], model
