"""One line of the workbench's list: an exchange in short, as JSON whose texts are inert.

It is made in two steps: what the events of the tape say, at once, and what only the bodies say (tokens, cost,
the call's identity), a little later.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from faultwire import wire
from faultwire.errors import TapeError
from faultwire.report.text import line

if TYPE_CHECKING:
    from faultwire.events import Recorded
    from faultwire.wire.transcript.exchange import Transcript

TEXT = 160


def row(recorded: Recorded, at: int) -> dict[str, Any]:
    """What the events say. `at` is its place in the list; `read` is False until the bodies were looked at."""
    request, got = recorded.request, recorded.delivered
    return {
        "at": at,
        "session": line(recorded.session, TEXT),
        "number": recorded.number,
        "kind": recorded.kind,
        "protocol": recorded.protocol,
        "provider": recorded.provider,
        "tool": line(recorded.tool, TEXT) if recorded.tool else None,
        "method": line(request.method, 20),
        "host": line(request.host, TEXT),
        "path": line(request.path, TEXT),
        "status": got.status if got else None,
        "ending": recorded.ending,
        "attempt": recorded.attempt,
        "started_ms": recorded.started_ms,
        "duration_ms": round(recorded.duration_ms, 1),
        "fired": [line(fault.id, TEXT) for fault in recorded.faults if fault.outcome == "fired"],
        "read": False,
    }


class Content(NamedTuple):
    """What the bodies of an exchange say, for its row. `answer` names an answer that can be fetched again and
    whose tokens are known; None for all others."""

    found: dict[str, Any]
    answer: str | None


def content(recorded: Recorded, *, elsewhere: bool | None = None) -> Content:
    """What the bodies say: the model, the beginning of its answer, tokens and cost; `call` names the logical
    call, which retries share. `cost_unknown` says that a model answered and nobody knows the price,
    `counted_elsewhere` that its answer was got, and paid for, before. A body that cannot be read is told."""
    try:
        conversation = transcript(recorded)
        found = _content(recorded, conversation)
    except TapeError as error:
        return Content(
            {"read": True, "call": "", "gist": "", "problem": f"{error.code}: {error.message}"}, None
        )
    known = conversation is not None and conversation.charged is not None
    answer = conversation.answer_id if conversation is not None and known else None
    if answer is not None and elsewhere is not None:
        found["counted_elsewhere"] = elsewhere
    return Content(found, answer)


def _content(recorded: Recorded, transcript: Transcript | None) -> dict[str, Any]:
    found: dict[str, Any] = {"read": True, "call": f"{recorded.key}/{recorded.n}"}
    if transcript is None:
        return found
    usage, answer = transcript.charged, transcript.answer
    found |= {
        "model": line(transcript.model, TEXT),
        "gist": _gist(transcript),
        "tokens_in": usage.input_tokens if usage else None,
        "tokens_out": usage.output_tokens if usage else None,
        "cost_usd": None if transcript.cost is None else format(transcript.cost, "f"),
        "cost_unknown": False,
    }
    if recorded.kind == "llm" and transcript.cost is None:
        ok = recorded.upstream is not None and 200 <= recorded.upstream.status < 300  # RFC 9110 §15.3
        found["cost_unknown"] = not answer.error if answer is not None else ok
    return found


def transcript(recorded: Recorded) -> Transcript | None:
    """The conversation of an exchange that has ended."""
    return wire.transcript_of(recorded)


def _gist(found: Transcript) -> str:
    answer = found.answer
    if answer is None:
        return ""
    if answer.tool_calls:
        return line("calls " + ", ".join(call.name for call in answer.tool_calls[:5]), TEXT)
    return line(answer.error or answer.text, TEXT)


def short(recorded: Recorded) -> dict[str, Any]:
    """One exchange of any tape in short, with the beginning of its answer."""
    try:
        about = _content(recorded, transcript(recorded))
    except TapeError as error:
        about = {"gist": error.code}
    return {**row(recorded, 0), "gist": about.get("gist", ""), "model": about.get("model")}
