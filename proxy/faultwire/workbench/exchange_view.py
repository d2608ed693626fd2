"""One exchange with all that a tape knows of it, as data and as markup; the same for the page of a tape and
for the workbench."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from faultwire.report import diff
from faultwire.report.conversation import name_results
from faultwire.report.exchange import Limits, exchange_part
from faultwire.report.html import environment
from faultwire.report.stream_pairs import stream_pairs
from faultwire.report.text import clip, redacted
from faultwire.tape.redact.redactor import Redactor, fresh_key

if TYPE_CHECKING:
    from collections.abc import Iterable

    from markupsafe import Markup

    from faultwire.events import Message, Recorded, Request

WHOLE = Limits(body=200_000, events=5_000, event=8_000, text=100_000, turns=400)
"""What the page of one exchange repeats."""
IN_A_LIST = Limits(body=16_384, events=400, event=1_000, text=8_000, turns=60)
"""What a page of many exchanges repeats of each."""
MESSAGES = 1_000
"""Messages of a WebSocket that are listed."""


def exchange_view(
    recorded: Recorded,
    origin_ms: int,
    forwarded: Request | None = None,
    redactions: dict[str, int] | None = None,
    *,
    session: Iterable[Recorded] = (),
    limits: Limits = WHOLE,
) -> dict[str, Any]:
    """The exchange as data: that of a report, and its `events` side by side, its `messages`, and what was
    redacted by class. `session` is read only for the names of tools that its own request does not tell.

    The tape redacts message by message; the joined text of a streamed answer is looked at once more.
    """
    part = exchange_part(recorded, origin_ms, forwarded, limits)
    part["conversation"] = _clean(part["conversation"])
    name_results([part["conversation"]], session)
    return {
        **part,
        "session": recorded.session,
        "http2": recorded.http2,
        "started_ms": recorded.started_ms,
        "events": stream_pairs(recorded, limits),
        "messages": [_message(one, limits) for one in recorded.messages[:MESSAGES]],
        "messages_not_shown": max(0, len(recorded.messages) - MESSAGES),
        "redactions": redactions or {},
    }


def sections(view: dict[str, Any], anchor: str) -> Markup:
    """The exchange as markup, escaped and inert: conversation, events, wire and ledger. `anchor` begins the
    ids of its parts."""
    macros = environment().get_template("_exchange.html.j2").module
    made: Markup = macros.sections(view, diff.exchange(view), anchor)  # type: ignore[attr-defined]
    return made


def _message(message: Message, limits: Limits) -> dict[str, Any]:
    at_ns = message.sent_ns if message.sent_ns is not None else message.delivered_ns
    return {
        "by": "agent" if message.by == "client" else "server",
        "kind": message.kind if message.code is None else f"{message.kind} {message.code}",
        "at_ms": None if at_ns is None else round(at_ns / 1e6, 1),
        "made_by_fault": message.sent_ns is None,
        "delivered": message.delivered_ns is not None,
        "bytes": len(message.data),
        "text": clip(message.data[: limits.event * 4].decode("utf-8", "replace"), limits.event),
    }


def _clean(conversation: dict[str, Any] | None) -> Any:
    redactor = Redactor(fresh_key())
    return redacted(conversation, lambda text: redactor.text(text, {}))
