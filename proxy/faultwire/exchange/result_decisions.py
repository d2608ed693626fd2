"""Decisions on the tool results of a request, remembered by result for the whole session."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

from faultwire import _core, wire
from faultwire.events import FaultFired, Wait
from faultwire.exchange.canaries import plant_canary
from faultwire.exchange.conversation import AGAIN
from faultwire.exchange.plan import decide_result
from faultwire.exchange.session_state import Subject
from faultwire.faults._api import ResultFault

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from faultwire.dice import Dice
    from faultwire.events import Exchange, ToolResult
    from faultwire.exchange.session_state import SessionState
    from faultwire.profile.model import Profile
    from faultwire.wire.types import Rewrite


class ResultDecision(NamedTuple):
    """What was decided on one tool result: lines of the ledger, and waits before the request goes on."""

    lines: list[FaultFired]
    waits: list[Wait]


def keyed_results(results: Iterable[ToolResult]) -> list[tuple[str, ToolResult]]:
    """Each result with what it is remembered by in its session.

    A call id alone is not enough: providers count them per answer (`call_0`), or send none. So the tool,
    its arguments and its text belong to it, and where all that is equal, the place in the history.
    """
    keyed: list[tuple[str, ToolResult]] = []
    seen: Counter[str] = Counter()
    for result in results:
        digest = _core.sha256_hex(result.text.encode("utf-8", "surrogatepass"))
        called = wire.tool_key(result.name or "", result.arguments)
        key = "\x00".join((result.call_id, called, digest))
        keyed.append((f"{key}\x00{seen[key]}", result))
        seen[key] += 1
    return keyed


def decide_on_result(
    profile: Profile, dice: Dice, exchange: Exchange, key_of: tuple[str, ToolResult], state: SessionState
) -> ResultDecision:
    """Decide on one new tool result, and remember the decision by its key in the session."""
    remembered_by, result = key_of
    result = replace(result, earlier=state.swap_result(result.name or "", result.text))
    key = wire.tool_key(result.name or "", result.arguments)
    subject = Subject(key, state.occurrence(key), 0, result.name)
    plan = decide_result(profile, dice, exchange, result, subject, state)
    judged, rewrite = ResultDecision([], []), None
    by: tuple[FaultFired, int] | None = None
    for decision in plan.decisions:
        if decision.counted:
            state.note(decision.entry.id, subject, decision.call, decision.at_s)
        fault = decision.entry.fault
        if decision.verb != "fire" or not isinstance(fault, ResultFault):
            judged.lines.append(decision.line())
            continue
        held, memory = dice.held(decision.entry.id, key, subject.n), state.memory(decision.entry.id)
        rewrite, delay_s, effect = fault.due(result, held, memory)
        if delay_s > 0:
            judged.waits.append(Wait(delay_s))
        effect = effect or _effect(result, rewrite, delay_s)
        line = decision.line("fired" if effect else "no_effect", effect=effect)
        if effect:
            state.unread_lines[remembered_by] = line
            by = (line, exchange.number)
        else:
            state.record_outcome(decision.entry.id, subject, fired=False)
            judged.lines.append(line)
        if rewrite is not None and rewrite.canary:
            plant_canary(rewrite.canary, decision, exchange, state)
    state.remember(remembered_by, rewrite, by if rewrite is not None else None)
    return judged


def replaced_again(earlier: Iterable[tuple[FaultFired, int]], exchange: Exchange) -> Iterator[FaultFired]:
    """A line for each entry whose fault on an earlier request's result stands in this request as well."""
    by_entry: dict[str, list[tuple[FaultFired, int]]] = {}
    for line, number in earlier:
        by_entry.setdefault(line.id, []).append((line, number))
    for found in by_entry.values():
        yield replace(
            found[0][0],
            outcome="reapplied",
            reason=AGAIN.format(min(number for _, number in found)),
            key=exchange.key,
            n=exchange.n,
            attempt=exchange.attempt,
            unit=None,
            effect="; ".join(dict.fromkeys(line.effect or "" for line, _ in found)),
        )


def _effect(result: ToolResult, rewrite: Rewrite | None, delay_s: float) -> str | None:
    if rewrite is not None:
        return rewrite.effect(result, delay_s)
    return f"result of `{result.name}` delayed by {delay_s * 1000:g} ms" if delay_s > 0 else None
