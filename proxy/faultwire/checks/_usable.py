"""Responses of models that were no failure by their status, and yet gave the agent nothing to answer with."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING

from faultwire import wire
from faultwire.checks._traffic import altered, whole
from faultwire.checks._transcripts import transcript_of
from faultwire.events import header

if TYPE_CHECKING:
    from faultwire.events import History, Recorded, ResponseView


def useless(history: History, exchange: Recorded) -> str | None:
    """What a whole response of a model with a good status lacked; None where it may have been an answer.

    An answer of pictures, sounds or a provider's own tools has neither text nor calls, and others may read a
    body that we cannot: only of what a fault took away is it known that there was more. A body without a
    byte, and one that says that it is JSON and is none, are no answer, whoever sent them.
    """
    delivered, transcript = exchange.delivered, transcript_of(history, exchange)
    if transcript is None or transcript.request is None or not transcript.request.turns:
        return None
    if delivered is None or delivered.status not in range(200, 300) or not whole(exchange):
        return None
    if not delivered.body:
        return "without a body"
    answer = transcript.answer
    if answer is None:
        unread = _gave(_sent(exchange)) or _broken(exchange)
        return "with a body that could not be read" if unread else None
    if not (answer.complete and answer.error is None) or _gave(answer) or answer.is_pending:
        return None
    return "without text or a tool call" if _gave(_sent(exchange)) else None


def _gave(answer: ResponseView | None) -> bool:
    return answer is not None and bool(answer.text.strip() or answer.tool_calls)


def _sent(exchange: Recorded) -> ResponseView | None:
    """What the server said, where a fault changed it."""
    if exchange.upstream is None or not altered(exchange):
        return None
    transcript = wire.transcript_of(replace(exchange, delivered=exchange.upstream))
    return transcript.answer if transcript is not None else None


def _broken(exchange: Recorded) -> bool:
    """Does a body say that it is JSON, and is none?"""
    delivered = exchange.delivered
    if delivered is None or header(delivered.headers, "content-encoding") not in (None, "", "identity"):
        return False
    if not (header(delivered.headers, "content-type") or "").startswith("application/json"):
        return False
    try:
        json.loads(delivered.body)
    except (ValueError, RecursionError):
        return True
    return False
