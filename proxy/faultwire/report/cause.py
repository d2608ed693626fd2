"""Which exchange explains how an agent ended, where one does.

Telemetry explains nothing: SDKs pass over its failures. Nor does a request that a replay had no answer for,
which no server and no fault failed. Of the rest, what came last counts most, exchanges
with models, tools and agents more than others, and of several at the same time one that a fault hit.
"""

from __future__ import annotations

import signal
from typing import TYPE_CHECKING

from faultwire.checks._order import ended_ms
from faultwire.checks._traffic import altered, failed, left
from faultwire.checks._transcripts import transcript_of
from faultwire.checks._truncated import question
from faultwire.wire.recognition.telemetry import is_telemetry

if TYPE_CHECKING:
    from faultwire.events import AgentResult, History, Recorded


_MISS = "diverged: "
"""How the reason of a refusal begins where a replay had no recorded answer."""


def last(history: History) -> Recorded | None:
    """The exchange that began last, apart from telemetry and what a replay had no answer for."""
    return max(_work(history), key=lambda exchange: exchange.started_ms, default=None)


STOPS = (signal.SIGHUP, signal.SIGINT, signal.SIGQUIT, signal.SIGKILL, signal.SIGTERM)
"""Signals that a program gets from others, and not for a mistake of its own."""
_STOPPED = frozenset(code for number in STOPS for code in (-number, 128 + number))


def stopped(agent: AgentResult) -> bool:
    """Was it ended from outside: by its time limit, by the user, or for want of memory?"""
    return agent.timed_out or agent.exit_code in _STOPPED


def cause(history: History) -> Recorded | None:
    """The exchange whose failure or change the agent got over least; None where it got over all of them.

    It got over one where the same place answered well later. A failure that no fault made counts only where
    nothing else came after it: an agent that goes on has not died of it.
    """
    work = _work(history)
    end = max((exchange.started_ms for exchange in work), default=0)
    left = [
        exchange
        for exchange in work
        if _harmed(exchange)
        and not _overcome(history, exchange, work)
        and (_faulted(exchange) or ended_ms(exchange) >= end)
    ]
    left = [exchange for exchange in left if exchange.kind != "other"] or left
    newest = max(left, key=ended_ms, default=None)
    if newest is not None and _missed_after(history, newest):
        return None
    if newest is None or _faulted(newest):
        return newest
    beside = [one for one in left if _faulted(one) and ended_ms(one) >= newest.started_ms]
    return max(beside, key=ended_ms, default=newest)


def _missed_after(history: History, hit: Recorded) -> bool:
    """Had a replay no answer for what a model, tool or agent was asked later? Then it may be that which the
    agent died of, and with the answer it might have gone on."""
    return any(
        one.kind != "other" and _is_miss(one) and one.started_ms >= ended_ms(hit) for one in history.exchanges
    )


def _is_miss(exchange: Recorded) -> bool:
    return exchange.ending == "refused" and (exchange.error or "").startswith(_MISS)


def _work(history: History) -> list[Recorded]:
    return [
        exchange
        for exchange in history.exchanges
        if not is_telemetry(exchange.request) and not _is_miss(exchange)
    ]


def _harmed(exchange: Recorded) -> bool:
    """Did it fail, or did a fault change what was read, or make the agent leave before all of it came?"""
    if failed(exchange):
        return True
    changed = altered(exchange) or left(exchange)
    return any(f.outcome == "fired" and (changed or f.site in ("result", "request")) for f in exchange.faults)


def _faulted(exchange: Recorded) -> bool:
    return any(fault.outcome == "fired" for fault in exchange.faults)


def _overcome(history: History, exchange: Recorded, work: list[Recorded]) -> bool:
    """Did a later request to the same place go well, or one that asked another model the same?"""
    here = _place(exchange)
    return any(
        later.started_ms >= ended_ms(exchange)
        and not _harmed(later)
        and (_place(later) == here or _asks_the_same(history, exchange, later))
        for later in work
    )


def _asks_the_same(history: History, exchange: Recorded, later: Recorded) -> bool:
    """Was another model asked what a model could not answer?"""
    if exchange.kind != "llm" or later.kind != "llm":
        return False
    one, other = (transcript_of(history, each) for each in (exchange, later))
    return one is not None and other is not None and bool(question(one)) and question(one) == question(other)


def _place(exchange: Recorded) -> tuple[str, str, int, str]:
    request = exchange.request
    return request.method, request.host, request.port, request.path.partition("?")[0]
