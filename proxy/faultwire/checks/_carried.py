"""Halves of answers that the agent sent on to the model as its own whole words.

An agent that goes on with a conversation repeats it. Where the beginning of an answer that was cut stands in
it as a message of the assistant, the agent took it for all of the answer, unless what follows says that it
was cut or asks for the rest.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from faultwire.checks._once import compiled
from faultwire.checks._transcripts import models
from faultwire.checks._truncated import admits, later, truncated

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from faultwire.checks._truncated import Truncated
    from faultwire.events import History, RequestView, Turn

SHORT = 4
"""Words; fewer of them may stand in any conversation, and count only at the answer's own place."""
ASKS_FOR_MORE = (
    r"(?i)\b(incomplet|unfinished|truncat|interrupt|partial|premature|cut (short|off)|broke off|broken off|"
    r"ended (too )?early|stopped early|continu|go on\b|carry on\b|keep going|finish|complete|resume|"
    r"(the )?rest\b|where (you|it) (left|stopped|ended|broke))"
)


class Carried(NamedTuple):
    """A cut answer that stands in a later request, that of the exchange `seen`, as the assistant's words."""

    cut: Truncated
    seen: int


def carried(history: History, *, limits: bool) -> Carried | None:
    """The first cut answer that was sent on so; with `limits` those count too that ended at a limit."""
    for cut in truncated(history, limits=limits):
        if not cut.text:
            continue
        whole = _whole_answers(history)
        for exchange, transcript in later(history, cut, answered=False):
            request = transcript.request
            if request is not None and _stands_in(cut, request, whole):
                return Carried(cut, exchange.number)
    return None


def completed(history: History, cut: Truncated) -> bool:
    """Did the agent send the half back to have it finished, and get a whole answer?"""
    short = {one.exchange.number for one in truncated(history, limits=True)}
    whole = _whole_answers(history)
    for exchange, transcript in later(history, cut) if cut.text else ():
        if exchange.number in short or transcript.request is None:
            continue
        after = _after(cut, transcript.request, whole)
        if after is not None and not _goes_on(after):
            return True
    return False


def _stands_in(cut: Truncated, request: RequestView, whole: frozenset[str]) -> bool:
    after = _after(cut, request, whole)
    return after is not None and _goes_on(after)


def _after(cut: Truncated, request: RequestView, whole: frozenset[str]) -> Sequence[Turn] | None:
    """What follows the half in a request; None where it does not stand there as the assistant's words."""
    asked = cut.transcript.request
    before = _spoken(asked.turns) if asked is not None else []
    turns = _spoken(request.turns)
    follows = bool(before) and _words(turns[: len(before)]) == _words(before)
    candidates = turns[len(before) : len(before) + 1] if follows else []
    if any(_is_half(cut, turn, whole, exact=False) for turn in candidates):
        return turns[len(before) + 1 :]
    if len(cut.text.split()) < SHORT:
        return None
    known = sum(_is_half(cut, turn, whole, exact=True) for turn in before)
    places = [at for at, turn in enumerate(turns) if _is_half(cut, turn, whole, exact=True)]
    return turns[places[-1] + 1 :] if len(places) > known else None


def _is_half(cut: Truncated, turn: Turn, whole: frozenset[str], *, exact: bool) -> bool:
    """Is a message of the assistant the half, or the half with words of the agent's own after it?"""
    if turn.role not in ("assistant", "model"):
        return False
    text = _single(turn.text)
    if text in whole:
        return False
    return text == cut.text or (
        not exact and text.startswith(f"{cut.text} ") and not admits(text[len(cut.text) :])
    )


def _goes_on(after: Sequence[Turn]) -> bool:
    """Does the conversation go on after it? Not where the model is to finish it, or is told of the cut."""
    following = next(iter(after), None)
    return following is not None and compiled(ASKS_FOR_MORE).search(following.text) is None


def _whole_answers(history: History) -> frozenset[str]:
    return frozenset(_each_whole(history))


def _each_whole(history: History) -> Iterator[str]:
    short = {cut.exchange.number for cut in truncated(history, limits=True)}
    for exchange, transcript in models(history):
        if exchange.number not in short and transcript.answer is not None and transcript.answer.text:
            yield _single(transcript.answer.text)


def _spoken(turns: Sequence[Turn]) -> list[Turn]:
    return [turn for turn in turns if turn.role not in ("system", "developer")]


def _words(turns: Sequence[Turn]) -> list[tuple[str, str]]:
    return [(turn.role, turn.text) for turn in turns]


def _single(text: str) -> str:
    return " ".join(text.split())
