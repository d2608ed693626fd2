"""Why entries of a profile never fired: what each of their decisions came to. Pure."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from faultwire.report.skipped import BY_CHANCE, in_words
from faultwire.text import counted

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from faultwire.events import Recorded

ACTED = frozenset({"fired", "reapplied", "returned"})
"""Outcomes that show an entry at work, in this exchange or earlier in its conversation."""
NO_MATCH = "no exchange matched"
NO_MATCH_LEFT = "no exchange matched, of those that were not refused"
NO_TRAFFIC = "nothing came through the proxy"
NOT_FINISHED = "no invocation of this scenario was finished"
NO_EFFECT = "where it was to act, there was nothing for it to change"
NOT_MOCKED = 501
"""The status of calls that were refused after faults had been looked at (`mitm.messages.error_responses`)."""
NOT_ANSWERED = "no model answered the request that carried the result"
"""The reason of a fault on a tool's result that no model has read (`exchange.tool_results`)."""
HOSTS = 3
"""Of those to which calls were refused, that are named."""
MOST = 20
"""Reasons that are kept of one entry."""
SHOWN = 3
"""Reasons of one entry that a terminal names."""
LINES = 8
"""Lines about such entries on a terminal; reports have them all."""


def unfired(entries: Iterable[str], exchanges: Iterable[Recorded]) -> dict[str, list[str]]:
    """The ids of `entries` that never fired, in order, each with its reasons as they first occurred, in words
    that need no profile beside them."""
    reasons: dict[str, dict[str, None]] = {entry: {} for entry in entries}
    acted: set[str] = set()
    refused: Counter[str] = Counter()
    nothing = NO_TRAFFIC
    for exchange in exchanges:
        nothing = NO_MATCH
        if _is_unseen(exchange):
            refused[exchange.request.host] += 1
        for fault in exchange.faults:
            if fault.outcome in ACTED:
                acted.add(fault.id)
            else:
                reason = NO_EFFECT if fault.outcome == "no_effect" else fault.reason
                reasons.setdefault(fault.id, {})[reason] = None
    if refused:
        nothing = f"{NO_MATCH_LEFT}: {_refused(refused)}"
    return {
        entry: in_words(list(found))[:MOST] or [nothing]
        for entry, found in reasons.items()
        if entry not in acted
    }


def _is_unseen(exchange: Recorded) -> bool:
    """Was it refused before faults were looked at?"""
    if exchange.ending != "refused" or exchange.faults:
        return False
    return exchange.delivered is None or exchange.delivered.status != NOT_MOCKED


def _refused(hosts: Counter[str]) -> str:
    """Calls that never came as far as the faults; the summary names the reason of each refusal."""
    count = sum(hosts.values())
    named = [f"`{host}`" for host, _ in hosts.most_common(HOSTS)] + ["…"] * (len(hosts) > HOSTS)
    verb = "was" if count == 1 else "were"
    return f"{counted(count, 'call')} to {', '.join(named)} {verb} refused before that"


def unfired_lines(entries: Sequence[str], exchanges: Iterable[Recorded]) -> list[str]:
    """The same for a terminal, of one session: a line for each entry, at most `LINES` of them."""
    seen = list(exchanges)
    lines, rolled = list[str](), False
    for entry, reasons in unfired(entries, seen).items():
        more = f"; and {len(reasons) - SHOWN} other reasons" if len(reasons) > SHOWN + 1 else ""
        shown = reasons if len(reasons) == SHOWN + 1 else reasons[:SHOWN]
        listed = [reason + _carriers(entry, seen) if reason == NOT_ANSWERED else reason for reason in shown]
        lines.append(f"`{entry}` never fired: {'; '.join(listed)}{more}")
        rolled = rolled or any(BY_CHANCE in reason for reason in reasons)
    if len(lines) > LINES:
        count = len(lines) - LINES + 1
        lines[LINES - 1 :] = [
            f"and {counted(count, 'other entry', 'other entries')}, whose reasons are in the report"
        ]
    return [*lines, "another `--seed` rolls anew"] if rolled else lines


def _carriers(entry: str, exchanges: Sequence[Recorded]) -> str:
    """The requests that carried the result which an entry had changed, and what came of each."""
    unread = [
        one
        for one in exchanges
        if any(fault.id == entry and fault.reason == NOT_ANSWERED for fault in one.faults)
    ]
    named = [f"#{one.number} {_came_to(one)}" for one in unread[:SHOWN]] + ["…"] * (len(unread) > SHOWN)
    return f" ({', '.join(named)})"


def _came_to(exchange: Recorded) -> str:
    if exchange.delivered is not None:
        return f"got status {exchange.delivered.status}"
    return f"ended as `{exchange.ending.replace('_', ' ')}`"
