"""The invariant that the conversation stays legal for the provider."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from faultwire import wire
from faultwire.checks._api import Check, judged, quoted, unknown
from faultwire.checks._transcripts import models
from faultwire.checks._walk import Walked, last_word
from faultwire.text import counted

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
    evidence = "failures"

    def judge(self, history: History, answer: str) -> Verdict:
        """Walk through each conversation."""
        numbers: list[int] = []
        walked: Walked[_Open] = Walked()
        for exchange, transcript in models(history):
            if transcript.request is None or not transcript.request.turns:
                continue
            numbers.append(exchange.number)
            kept = _kept(exchange)  # then other rules hold, and nothing that was walked through helps
            flaw = _flaw(transcript.request.turns, Walked() if kept else walked, kept=kept)
            if flaw is not None:
                words = f"the conversation of exchange {exchange.number}: {flaw}"
                return judged(False, words, flaw, (exchange.number,))
        if not numbers:
            return unknown("no conversation with a model could be read")
        are = "is" if len(numbers) == 1 else "are"
        return judged(True, f"{counted(len(numbers), 'conversation')} {are} legal", len(numbers), numbers)


def _kept(exchange: Recorded) -> bool:
    """Does the provider keep the turns before these?"""
    protocol = wire.protocols().get(exchange.protocol or "")
    return protocol is not None and protocol.keeps(exchange.request)


class _Open(NamedTuple):
    """Where a walk is: the calls that were made, and how often each of those waits that have no result."""

    made: set[str]
    waiting: dict[str, int]


def _flaw(turns: tuple[Turn, ...], walked: Walked[_Open], *, kept: bool) -> str | None:
    """What is wrong with a conversation; nothing is with those that `walked` knows."""
    first, known = walked.resume(turns)
    made, waiting = known if known is not None else _Open(set(), {})
    last = last_word(turns, first)
    if known is not None and last < 0:
        walked.keep(turns[:first], _Open(made.copy(), waiting.copy()))
    for at in range(first, len(turns)):
        turn = turns[at]
        flaw = _answers(turn, made, waiting, kept=kept) or _speaks(turn, waiting)
        if flaw is not None:
            return flaw
        for call in turn.tool_calls:
            if call.id:
                made.add(call.id)
                waiting[call.id] = waiting.get(call.id, 0) + 1
        if at == last:
            walked.keep(turns[: at + 1], _Open(made.copy(), waiting.copy()))
    return f"the call {_first(waiting)} has no result" if waiting else None


def _answers(turn: Turn, made: set[str], waiting: dict[str, int], *, kept: bool) -> str | None:
    """Takes the results of a turn; the first that answers no waiting call is a flaw."""
    for result in turn.tool_results:
        if not result.call_id:
            continue
        left = waiting.get(result.call_id, 0)
        if left > 1:
            waiting[result.call_id] = left - 1
        elif left:
            del waiting[result.call_id]
        elif result.call_id in made:
            return f"the call {quoted(result.call_id)} is answered twice"
        elif not kept:
            return f"the result {quoted(result.call_id)} has no call before it"
    return None


def _speaks(turn: Turn, waiting: dict[str, int]) -> str | None:
    """A message while a call is pending is a flaw; the calls of one answer may be sent one by one."""
    if not waiting or turn.tool_results or (turn.role == "assistant" and not turn.text):
        return None
    if not (turn.text or turn.tool_calls or turn.role == "user"):
        return None
    return f"the call {_first(waiting)} has no result before the next {quoted(turn.role)} speaks"


def _first(waiting: dict[str, int]) -> str:
    return quoted(next(iter(waiting)))
