"""Answers of models that were cut short: which there were, and what the agent did with them."""

from __future__ import annotations

import json
from collections import Counter
from typing import TYPE_CHECKING, NamedTuple

from faultwire.checks._declined import declined
from faultwire.checks._limit_asked import wanted
from faultwire.checks._once import compiled
from faultwire.checks._order import SLACK_MS, ended_ms
from faultwire.checks._refused import is_json, refused
from faultwire.checks._tools import uses
from faultwire.checks._traffic import left, whole
from faultwire.checks._transcripts import models

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from faultwire.events import History, Recorded, ToolCall
    from faultwire.wire import Transcript

LIMITS = frozenset(
    {
        "length",
        "max_tokens",
        "MAX_TOKENS",
        "max_output_tokens",
        "incomplete",
        "model_length",
        "model_context_window_exceeded",
    }
)
"""Finish reasons by which providers say that an answer was cut at a limit."""
NO_ANSWER = frozenset({"", "none", "null", "undefined"})
"""What programs print of an answer without text."""
_ADMITS = (
    r"(?i)\b(incomplet|unfinished|truncat|interrupt|partial|premature|cut (short|off)|broke off|"
    r"ended (too )?early|stopped early|fail|error|unavailable|tim(ed|e) ?out|could ?n[o']t|can ?n?[o']t|"
    r"unable|try again|retry|sorry)"
)
_CLOSERS = '"}] '


class Truncated(NamedTuple):
    """One truncated answer. `limit` is the finish reason where it was cut at a limit, and not in transit."""

    exchange: Recorded
    transcript: Transcript
    limit: str | None

    @property
    def text(self) -> str:
        """Its text in single spaces."""
        answer = self.transcript.answer
        return " ".join(answer.text.split()) if answer is not None else ""

    @property
    def readable(self) -> bool:
        """Was anything understood of what came? Bytes that no reader knows are not the same as no text."""
        answer, delivered = self.transcript.answer, self.exchange.delivered
        known = answer is not None and (
            answer.model or answer.text or answer.tool_calls or answer.finish_reason
        )
        return bool(known) or delivered is None or not delivered.body.strip()

    @property
    def calls(self) -> tuple[ToolCall, ...]:
        """The tool calls in it, the last one perhaps without its end."""
        answer = self.transcript.answer
        return answer.tool_calls if answer is not None else ()


class Executed(NamedTuple):
    """A tool call of a truncated answer that was answered; `seen` is the exchange that shows it."""

    cut: Truncated
    call: ToolCall
    arguments: str
    seen: int
    sent: bool
    """Is it seen by its result in a request to a model? Else at the tool's own exchange."""
    refused: bool = False
    """Did the agent or its framework answer it with an error in place of the tool?"""

    @property
    def repaired(self) -> bool:
        """Was it executed with arguments that the model had not finished?"""
        arguments = self.call.arguments
        return bool(arguments and self.arguments) and arguments != self.arguments and not is_json(arguments)


def truncated(history: History, *, limits: bool) -> list[Truncated]:
    """The truncated answers, oldest first; with `limits` those too that ended at a token limit.

    Not those that the agent itself left while they were coming.
    """
    found = []
    for exchange, transcript in models(history):
        delivered, answer = exchange.delivered, transcript.answer
        if delivered is None or delivered.status >= 300 or answer is None or left(exchange):
            continue
        if not answer.complete or not whole(exchange):
            found.append(Truncated(exchange, transcript, None))
        elif limits and answer.finish_reason in LIMITS and not (wanted(exchange) and not answer.tool_calls):
            found.append(Truncated(exchange, transcript, answer.finish_reason))
    return found


def later(
    history: History, cut: Truncated, *, answered: bool = True
) -> Sequence[tuple[Recorded, Transcript]]:
    """The exchanges with models that began after this answer had ended, and that succeeded (`answered`)."""
    ended = ended_ms(cut.exchange) - SLACK_MS
    return [
        (exchange, transcript)
        for exchange, transcript in models(history)
        if exchange.number > cut.exchange.number
        and exchange.started_ms >= ended
        and (not answered or (exchange.delivered is not None and exchange.delivered.status < 300))
    ]


def replacements(history: History, cut: Truncated, cuts: Sequence[Truncated]) -> list[str]:
    """The texts of the whole answers that came when the same was asked again, in single spaces."""
    short = {one.exchange.number for one in cuts}
    return [
        " ".join(transcript.answer.text.split()) if transcript.answer is not None else ""
        for exchange, transcript in later(history, cut)
        if exchange.number not in short and question(transcript) == question(cut.transcript)
    ]


def continued(history: History, cut: Truncated) -> bool:
    """Did a later request go on with the same conversation? A tool's result would stand in it."""
    asked = cut.transcript.request
    turns = [(turn.role, turn.text) for turn in asked.turns] if asked is not None else []
    return bool(turns) and any(
        transcript.request is not None
        and [(turn.role, turn.text) for turn in transcript.request.turns[: len(turns)]] == turns
        for _, transcript in later(history, cut)
    )


def holds(answer: str, text: str) -> bool:
    """Does a text stand in an answer, both in single spaces, and neither begin nor end within a word?"""
    at = answer.find(text)
    while at >= 0:
        end = at + len(text)
        if not (answer[at - 1 : at].isalnum() or answer[end : end + 1].isalnum()):
            return True
        at = answer.find(text, at + 1)
    return False


def admits(text: str) -> bool:
    """Does a text say that something is missing or went wrong?"""
    return compiled(_ADMITS).search(text) is not None


def executed(history: History, *, limits: bool) -> Executed | None:
    """The first tool call of a truncated answer that the agent executed.

    A call is known by its id, or by its tool and arguments where the provider sends no ids. Of an answer that
    ended at a limit, calls whose arguments are not whole JSON count in any case.
    """
    sent = (one for one in _sent(history, limits) if not one.refused)
    return next(sent, None) or _own(history, limits)


def refusals(history: History, *, limits: bool) -> dict[int, Executed]:
    """The calls of truncated answers that the agent's framework refused to execute, by exchange."""
    return {one.cut.exchange.number: one for one in _sent(history, limits) if one.refused}


def _sent(history: History, limits: bool) -> Iterator[Executed]:
    """Those whose result stands in a later request to a model."""
    made: dict[tuple[str, str], list[tuple[Truncated, ToolCall, int]]] = {}
    finished: dict[tuple[str, str], list[str]] = {}
    cuts = {cut.exchange.number: cut for cut in truncated(history, limits=True)}
    for exchange, transcript in models(history) if cuts else ():
        results = transcript.request.results if transcript.request is not None else ()
        known = Counter(_key(one.call_id, one.name) for one in results)
        for result in results:
            key = _key(result.call_id, result.name)
            for cut, call, before in made.get(key, ()):
                if known[key] > before and _from_cut(call, result.arguments, finished.get(key, [])):
                    rejected = refused(call.arguments, result.text) or declined(result.text)
                    yield Executed(cut, call, result.arguments, exchange.number, True, rejected)
        cut_here = cuts.get(exchange.number)
        for call in transcript.answer.tool_calls if transcript.answer is not None else ():
            key = _key(call.id, call.name)
            if cut_here is not None and _counts(cut_here, call, limits):
                made.setdefault(key, []).append((cut_here, call, known[key]))
            elif key in made:
                finished.setdefault(key, []).append(call.arguments)


def _own(history: History, limits: bool) -> Executed | None:
    """One that is seen at the tool's own exchange, before the model made the same call in a whole answer."""
    cuts = truncated(history, limits=True)
    short = {cut.exchange.number for cut in cuts}
    own = [use for use in uses(history) if use.seen == "its own exchange"]
    for cut in cuts if own else ():
        for call in cut.calls:
            if not _counts(cut, call, limits):
                continue
            again = [
                exchange.number
                for exchange, transcript in models(history)
                if exchange.number > cut.exchange.number
                and exchange.number not in short
                and transcript.answer is not None
                and any(one.name == call.name for one in transcript.answer.tool_calls)
            ]
            end = min(again, default=1 << 62)
            for use in own:
                between = cut.exchange.number < use.number < end
                if between and use.name == call.name and _fits(call.arguments, use.arguments):
                    return Executed(cut, call, use.arguments, use.number, sent=False)
    return None


def _counts(cut: Truncated, call: ToolCall, limits: bool) -> bool:
    return cut.limit is None or limits or not is_json(call.arguments or "{}")


def _from_cut(cut: ToolCall, ran: str, finished: Sequence[str]) -> bool:
    """Were these arguments taken from the cut call? Its id says so, unless whole answers made it, too."""
    if cut.id and not finished:
        return True
    return _fits(cut.arguments, ran) and not any(_same(ran, one) for one in finished)


def _fits(cut: str, ran: str) -> bool:
    """Are arguments those of a call that was cut: as they stand, or as a lenient parser closes them?"""
    if _same(cut, ran):
        return True
    bare = "".join(ran.split()).rstrip(_CLOSERS)
    return bool(bare) and not is_json(cut) and "".join(cut.split()).startswith(bare)


def _same(one: str, other: str) -> bool:
    try:
        return bool(json.loads(one) == json.loads(other))
    except (ValueError, RecursionError):
        return one == other


def _key(ident: str, name: str | None) -> tuple[str, str]:
    return (ident, "") if ident else ("", name or "")


def question(transcript: Transcript) -> list[tuple[str, tuple[str, ...]]]:
    """What a request adds to its conversation: the words and the results after the model's last word."""
    return [
        (turn.text, tuple(result.text for result in turn.tool_results))
        for turn in transcript.new_turns
        if turn.role not in ("system", "developer")
    ]
