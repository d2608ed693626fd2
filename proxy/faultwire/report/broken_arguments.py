"""Tool calls whose arguments were no JSON, and that the agent answered as if they had been run."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from faultwire.checks._api import quoted
from faultwire.checks._declined import declined
from faultwire.checks._once import compiled
from faultwire.checks._refused import LEAD, is_json, refused
from faultwire.checks._transcripts import models
from faultwire.checks._truncated import truncated
from faultwire.report.after_failure import Evidence

if TYPE_CHECKING:
    from faultwire.events import History, Request, ToolCall, ToolResult


_FAILED = r"(?i)\A[\W_]*(error|failed|failure|exception)\b"
"""How a result begins that tells of a failure."""


def broken_arguments(history: History) -> Evidence | None:
    """The first such call of a whole answer; answers that were cut have a rule of their own.

    Only what begins as an object, and never the input of a custom tool, which is any text. Nothing where the
    result says that the call was not run.
    """
    cut = {one.exchange.number for one in truncated(history, limits=True)}
    made: dict[str, tuple[int, ToolCall]] = {}
    for exchange, transcript in models(history):
        for result in transcript.request.results if transcript.request is not None else ():
            number, call = made.get(result.call_id, (0, None))
            if call is None or _reports_failure(call, result):
                continue
            words = (
                f"the agent answered the call of {quoted(call.name)} from exchange {number} with a result in "
                f"exchange {exchange.number}, and its arguments {quoted(call.arguments)} are no JSON"
            )
            if result.arguments and result.arguments != call.arguments:
                words += f"; it sent {quoted(result.arguments)} in their place"
            return Evidence((number, exchange.number), words)
        answer = transcript.answer
        for call in answer.tool_calls if answer is not None and exchange.number not in cut else ():
            made.pop(call.id, None)
            broken = call.arguments.lstrip().startswith("{") and not is_json(call.arguments)
            if call.id and broken and call.name not in _custom_tools(exchange.request):
                made[call.id] = (exchange.number, call)
    return None


def _reports_failure(call: ToolCall, result: ToolResult) -> bool:
    """Does the result say that the call was not run, or that something failed? A model that is told that has
    what it needs to ask again."""
    if refused(call.arguments, result.text) or declined(result.text) or result.is_error:
        return True
    return compiled(_FAILED).search(result.text[:LEAD]) is not None


def _custom_tools(request: Request) -> set[str]:
    """The tools that a request offers whose input is any text, as code may be that begins with a brace."""
    try:
        offered = json.loads(request.body or b"{}").get("tools")
    except (ValueError, RecursionError, AttributeError):
        return set()
    names = set()
    for one in offered if isinstance(offered, list) else ():
        if isinstance(one, dict) and one.get("type") == "custom":
            inner = one.get("custom")
            names.add(str((inner if isinstance(inner, dict) else one).get("name")))
    return names
