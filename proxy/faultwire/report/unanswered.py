"""Programs that ended well although the last call of a model gave them no answer."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from faultwire.checks._order import ended_ms
from faultwire.checks._traffic import failed
from faultwire.checks._transcripts import transcript_of
from faultwire.checks._usable import useless
from faultwire.report.after_failure import Evidence, outcome
from faultwire.wire.recognition.telemetry import is_telemetry

if TYPE_CHECKING:
    from faultwire.events import History, Recorded

SAY_SO = (
    "If the output does not say that the call failed, this looks like success: say so, or exit with another "
    "code."
)
EARLIER = (
    "An earlier call was answered. If the output needed this one, say that it failed, or exit with another "
    "code."
)
"""Of a last call that may have been about something else, such as a title."""


class Unanswered(NamedTuple):
    """A last call without an answer, and what there is to do."""

    evidence: Evidence
    action: str


def unanswered(history: History) -> Unanswered | None:
    """The last call of a model failed or gave nothing to answer with, none beside or after it did better, and
    the agent exited 0."""
    agent = history.agent
    calls = [one for one in history.exchanges if one.kind == "llm" and not is_telemetry(one.request)]
    newest = max(calls, key=ended_ms, default=None)
    if agent is None or agent.exit_code != 0 or agent.timed_out or newest is None:
        return None
    lacks, got = useless(history, newest), newest.delivered
    if newest.ending == "refused" or not (lacks or got is None or got.status >= 400):
        return None
    good = [one for one in calls if not failed(one) and useless(history, one) is None]
    if any(ended_ms(one) >= newest.started_ms for one in good):
        return None
    what = f"{outcome(newest, faults=False)} {lacks}" if lacks else outcome(newest)
    words = f"{what}, no call of a model succeeded after it, and the command exited 0"
    earlier = any(_answers(history, one, newest) for one in good)
    return Unanswered(Evidence((newest.number,), words), EARLIER if earlier else SAY_SO)


def _answers(history: History, one: Recorded, newest: Recorded) -> bool:
    """Was this a last word of the model's, and not a step towards the call that failed?"""
    earlier, asked = transcript_of(history, one), transcript_of(history, newest)
    if (
        earlier is None
        or earlier.answer is None
        or not earlier.answer.text.strip()
        or earlier.answer.tool_calls
    ):
        return False
    if earlier.request is None or asked is None or asked.request is None:
        return False
    begin = earlier.request.turns
    return asked.request.turns[: len(begin)] != begin
