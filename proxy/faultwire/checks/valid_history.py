"""The invariant that the conversation stays legal for the provider."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from faultwire import wire
from faultwire.checks._api import Check, judged, quoted, unknown
from faultwire.checks._told import models

if TYPE_CHECKING:
    from faultwire.events import History, Recorded, Turn, Verdict


class ValidHistory(Check):
    """Each conversation that is sent to a model is one that its provider accepts.

    What it judges:
        The turns of every request: each result of a tool belongs to a call before it, no call is answered
        twice, and every call is answered before anybody speaks again. Conversations that the provider
        keeps itself are judged as far as the request shows them.

    Why agents fail it:
        A retry that drops the assistant's message, a tool that raised and left its call without a result,
        a history that was trimmed in the middle of a pair. Providers answer 400, and the agent is stuck.

    What it cannot tell:
        Rules of one provider alone, such as signatures of thoughts.

    Example:
        invariants:
          - {type: valid_history, severity: high}
    """

    name = "valid_history"

    def judge(self, history: History, answer: str) -> Verdict:
        """Walk through each conversation."""
        numbers: list[int] = []
        for exchange, told in models(history):
            if told.request is None or not told.request.turns:
                continue
            numbers.append(exchange.number)
            flaw = _flaw(told.request.turns, kept=_kept(exchange))
            if flaw is not None:
                words = f"the conversation of exchange {exchange.number}: {flaw}"
                return judged(False, words, flaw, (exchange.number,))
        if not numbers:
            return unknown("no conversation with a model could be read")
        return judged(True, f"{len(numbers)} conversations are legal", len(numbers), numbers)


def _kept(exchange: Recorded) -> bool:
    """Does the provider keep the turns before these?"""
    protocol = wire.protocols().get(exchange.protocol or "")
    return protocol is not None and protocol.keeps(exchange.request)


def _flaw(turns: tuple[Turn, ...], *, kept: bool) -> str | None:
    made: Counter[str] = Counter()
    waiting: Counter[str] = Counter()
    for turn in turns:
        flaw = _answers(turn, made, waiting, kept=kept) or _speaks(turn, waiting)
        if flaw is not None:
            return flaw
        for call in turn.tool_calls:
            if call.id:
                made[call.id] += 1
                waiting[call.id] += 1
    return f"the call {_first(waiting)} has no result" if waiting else None


def _answers(turn: Turn, made: Counter[str], waiting: Counter[str], *, kept: bool) -> str | None:
    """Takes the results of a turn; the first that answers no waiting call is a flaw.

    `waiting` holds only calls that do: walked through for every request, a conversation is long.
    """
    for result in turn.tool_results:
        if not result.call_id:
            continue
        left = waiting[result.call_id]
        if left > 1:
            waiting[result.call_id] = left - 1
        elif left:
            del waiting[result.call_id]
        elif made[result.call_id]:
            return f"the call {quoted(result.call_id)} is answered twice"
        elif not kept:
            return f"the result {quoted(result.call_id)} has no call before it"
    return None


def _speaks(turn: Turn, waiting: Counter[str]) -> str | None:
    """Somebody who speaks while a call waits is a flaw; the calls of one answer may be told one by one."""
    if not waiting or turn.tool_results or (turn.role == "assistant" and not turn.text):
        return None
    if not (turn.text or turn.tool_calls or turn.role == "user"):
        return None
    return f"the call {_first(waiting)} has no result before the next {quoted(turn.role)} speaks"


def _first(waiting: Counter[str]) -> str:
    return quoted(next(iter(waiting)))
