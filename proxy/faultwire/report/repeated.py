"""A request that changed something at its server, and was sent again because its answer never arrived."""

from __future__ import annotations

from typing import TYPE_CHECKING

from faultwire.checks._idempotency import key_of
from faultwire.checks._order import order
from faultwire.checks._transcripts import quoted_place
from faultwire.report.after_failure import Evidence
from faultwire.wire.recognition.telemetry import is_telemetry

if TYPE_CHECKING:
    from faultwire.events import History, Recorded

UNSAFE = frozenset({"POST", "PATCH"})
"""Methods that are not idempotent (RFC 9110 §9.2.2; PATCH is RFC 5789's)."""


def repeats_what_was_done(history: History) -> Evidence | None:
    """The first request whose server answered well, whose client a fault told otherwise, and which was sent
    again after that without the same idempotency key. A model may be asked again, and so may telemetry."""
    known = order(history.exchanges)
    for before in filter(_was_hidden, history.exchanges):
        for after in history.exchanges:
            if _same(before, after) and known.follows(before, after) is True:
                return Evidence((before.number, after.number), _words(before))
    return None


def _was_hidden(exchange: Recorded) -> bool:
    """Did the server do it, and did a fault keep that from the client? One that was cut within a good answer
    knows the status."""
    done = exchange.upstream is not None and exchange.upstream.status < 400
    by_fault = any(line.outcome == "fired" for line in exchange.faults)
    unsafe = exchange.request.method in UNSAFE and exchange.kind in ("tool", "agent", "other")
    got = exchange.delivered
    hidden = got is None or got.status >= 400
    return done and by_fault and unsafe and hidden and not is_telemetry(exchange.request)


def _same(before: Recorded, after: Recorded) -> bool:
    one, other = before.request, after.request
    equal = (one.method, one.url, one.body) == (other.method, other.url, other.body)
    if after.number <= before.number or not equal:
        return False
    key = key_of(one)
    return key is None or key != key_of(other)


def _words(before: Recorded) -> str:
    done, got = before.upstream, before.delivered
    what = got.status if got is not None else "nothing"
    status = done.status if done is not None else 0
    return (
        f"{quoted_place(before)} answered {status} to #{before.number}, the agent got {what} and sent the "
        f"same {before.request.method} again without the same idempotency key"
    )
