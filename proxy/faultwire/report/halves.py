"""Answers that were cut, in a program that took them for whole ones or whose output decides it."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from faultwire.checks._api import quoted
from faultwire.checks._carried import ASKS_FOR_MORE
from faultwire.checks._once import compiled
from faultwire.checks._traffic import silence_ms
from faultwire.checks._transcripts import models
from faultwire.checks._truncated import (
    admits,
    beside,
    continued,
    holds,
    later,
    question,
    replacements,
    truncated,
)
from faultwire.report.after_failure import Evidence
from faultwire.wire.json_bytes import NO_JSON

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from faultwire.checks._truncated import Truncated
    from faultwire.events import History, Recorded, RequestView
    from faultwire.report.advice import Rule
    from faultwire.wire import Transcript

WORDS = 160
"""Characters of half an answer that are repeated, its end: that is where it was cut."""
BEGINNING = 24
"""Characters of half an answer that, in a later request, mean that it is about that answer."""
BY_ERROR = (
    "The stream itself said that it failed: if the output does not say so, this looks like success: retry, "
    "or report it."
)


FED_ON = (
    "What came after it rests on half an answer: ask again before the text goes into another request, or say "
    "that it is incomplete."
)
ENOUGH = 4
"""Words; fewer of them may stand in any request."""


class Half(NamedTuple):
    """An answer that was cut and not replaced, and what there is to do where it is not the rule's own."""

    evidence: Evidence
    action: str | None = None


def executed_or_sent(rule: Rule, history: History) -> Evidence | None:
    """Evidence in the traffic alone: a call of a cut answer was answered, or its text was sent on."""
    found = rule.find(history)
    return found if found is not None and len(found.exchanges) > 1 else None


def last_half(history: History, *, limits: bool, named: Collection[int] = ()) -> Half | None:
    """The last answer that was cut, where nothing after it had to do with it, and the command exited 0: then
    it depends on the output. With `limits` it ended at a token limit; not one of those `named`."""
    found = truncated(history, limits=limits)
    cuts = [cut for cut in found if (cut.limit is not None) == limits and cut.readable]
    if history.agent is None or history.agent.exit_code != 0:
        return None
    short = {cut.exchange.number for cut in cuts}
    for cut in reversed(cuts):
        if cut.exchange.number in named:
            continue
        fed = _fed_on(history, cut, cuts)
        if fed is not None:
            words = (
                f"{_what(cut, limits)}, a message of #{fed} has all of that text, and the command exited 0"
            )
            return Half(Evidence((cut.exchange.number, fed), words), FED_ON)
        after = [one for one in later(history, cut) if one[0].number not in short]
        if after and not (cut.text and _unrelated(history, cut, cuts, after)):
            continue
        then = "nothing after it asks the same again or goes on from it" if after else "was not retried"
        if beside(history, cut, found):
            then = "the same question was answered whole at the same time"
        words = f"{_what(cut, limits)}, {then}, and the command exited 0"
        return Half(Evidence((cut.exchange.number,), words), BY_ERROR if _names_error(cut) else None)
    return None


def _unrelated(
    history: History,
    cut: Truncated,
    cuts: list[Truncated],
    after: Sequence[tuple[Recorded, Transcript]],
) -> bool:
    """Are all later requests about something else than this answer?"""
    if replacements(history, cut, cuts) or continued(history, cut):
        return False
    return not any(_is_about(cut, transcript) for _, transcript in after)


def _is_about(cut: Truncated, transcript: Transcript) -> bool:
    """Has a later request the words of the half or of its question, or does it ask for more?"""
    turns = transcript.request.turns if transcript.request is not None else ()
    if turns and compiled(ASKS_FOR_MORE).search(turns[-1].text):
        return True
    if turns and any(holds(" ".join(turns[-1].text.split()), text) for text in _questions(cut)):
        return True
    return any(cut.text[:BEGINNING] in " ".join(turn.text.split()) for turn in turns)


def _questions(cut: Truncated) -> list[str]:
    """The texts that the half was to answer, without those of a word or two, which stand in many others."""
    texts = (" ".join(text.split()) for text, _ in question(cut.transcript))
    return [text for text in texts if len(text.split()) > 2]


def _fed_on(history: History, cut: Truncated, cuts: list[Truncated]) -> int | None:
    """The first later request in which the half stands in a message that is none of the model's own, as a
    step of a pipeline has it.

    None where the text may come from elsewhere (the question, another answer), where the same was asked again
    and answered, and where the message speaks of the cut or asks for the rest.
    """
    if len(cut.text.split()) < ENOUGH or replacements(history, cut, cuts):
        return None
    after = {exchange.number for exchange, _ in later(history, cut, answered=False)}
    for exchange, transcript in models(history):
        request = transcript.request
        if exchange.number in after and request is not None and _hands_on(cut, request):
            return exchange.number
        if exchange.number != cut.exchange.number and _may_be_source(cut, transcript):
            return None
        if exchange.number == cut.exchange.number and request is not None and _asked_with(cut, request):
            return None
    return None


def _hands_on(cut: Truncated, request: RequestView) -> bool:
    """Does a message that is none of the model's own have the half, without a word about the cut?"""
    own = [request.system, *(one.text for one in request.turns if one.role not in ("assistant", "model"))]
    for text in (" ".join(text.split()) for text in own):
        rest = text.replace(cut.text, " ", 1)
        if holds(text, cut.text) and not admits(rest) and compiled(ASKS_FOR_MORE).search(rest) is None:
            return True
    return False


def _may_be_source(cut: Truncated, transcript: Transcript) -> bool:
    """Has another exchange the text of the half, in what was asked or in what was answered?"""
    answer, request = transcript.answer, transcript.request
    text = " ".join(answer.text.split()) if answer is not None else ""
    return cut.text in text or (request is not None and _asked_with(cut, request))


def _asked_with(cut: Truncated, request: RequestView) -> bool:
    """Does the text of the half stand in a request?"""
    texts = [request.system, *(turn.text for turn in request.turns), *(one.text for one in request.results)]
    return any(cut.text in " ".join(text.split()) for text in texts)


def _what(cut: Truncated, limits: bool) -> str:
    how = f"at its token limit (`{cut.limit}`)" if limits else _how(cut)
    if cut.text:
        return f"an incomplete answer: it ended after `{_end(cut.text)}` {how}"
    if cut.calls:
        return f"an incomplete answer: it ended in a call of {quoted(cut.calls[-1].name)} {how}"
    return f"an empty answer: it ended {how} before any text"


def _error(cut: Truncated) -> str | None:
    answer = cut.transcript.answer
    return answer.error if answer is not None else None


def _names_error(cut: Truncated) -> bool:
    """Did the stream name an error of its own? An event that cannot be read names none."""
    error = _error(cut)
    return error is not None and not error.startswith(NO_JSON)


def _how(cut: Truncated) -> str:
    """How an answer ended that was cut in transit."""
    exchange, error = cut.exchange, _error(cut)
    if error and not _names_error(cut):
        return "with an event that is no JSON"
    if error:
        return f"with the error event {quoted(error, WORDS)}"
    if exchange.ending == "client_aborted" and exchange.delivered is not None and exchange.delivered.chunks:
        return f"when the agent closed the connection after {silence_ms(exchange) / 1000:.1f} s of silence"
    return "without its closing event"


def _end(text: str) -> str:
    """The last words of a text, on one line."""
    words = " ".join(text.split()).replace("`", "'")
    return words if len(words) <= WORDS else f"…{words[-WORDS:].partition(' ')[2]}"
