"""Attacks on the conversation that the model reads, kept up over a whole session; and their echoes.

A text that was changed once is changed again in every later request, because clients resend what they
know. A canary is looked for in what the agent itself sends, before anything is changed again: where it
is found, the model has passed it on.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

from faultwire import _core, wire
from faultwire.errors import WireError
from faultwire.events import FaultFired, Wait
from faultwire.exchange.plan import decide_result
from faultwire.exchange.session_state import PlantedCanary, Subject
from faultwire.faults._api import RequestFault, ResultFault

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from faultwire.dice import Dice
    from faultwire.events import Exchange, Path, ToolResult
    from faultwire.exchange.active_fault import ActiveFault
    from faultwire.exchange.plan import Decision
    from faultwire.exchange.session_state import SessionState
    from faultwire.profile.model import Profile
    from faultwire.wire.editing.api import TextPlace
    from faultwire.wire.protocol import Protocol, Rewrite


class ResultDecision(NamedTuple):
    """What was decided on one tool result: lines of the ledger, and waits before the request goes on."""

    lines: list[FaultFired]
    waits: list[Wait]


def keyed_results(results: Iterable[ToolResult]) -> list[tuple[str, ToolResult]]:
    """Each result with what it is remembered by in its session.

    A call id alone is not enough: providers count them per answer (`call_0`), or send none. So the tool,
    its arguments and what it said belong to it, and where all that is equal, the place in the history.
    """
    keyed: list[tuple[str, ToolResult]] = []
    seen: Counter[str] = Counter()
    for result in results:
        said = _core.sha256_hex(result.text.encode("utf-8", "surrogatepass"))
        called = wire.tool_key(result.name or "", result.arguments)
        key = "\x00".join((result.call_id, called, said))
        keyed.append((f"{key}\x00{seen[key]}", result))
        seen[key] += 1
    return keyed


def decide_on_result(
    profile: Profile, dice: Dice, exchange: Exchange, key_of: tuple[str, ToolResult], state: SessionState
) -> ResultDecision:
    """Decide on one new tool result, and remember the decision by its key in the session."""
    remembered_by, result = key_of
    result = replace(result, earlier=state.said(result.name or "", result.text))
    key = wire.tool_key(result.name or "", result.arguments)
    subject = Subject(key, state.occurrence(key), 0, result.name)
    plan = decide_result(profile, dice, exchange, result, subject, state)
    judged, rewrite = ResultDecision([], []), None
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
        else:
            state.record_outcome(decision.entry.id, subject, met=False)
            judged.lines.append(line)
        if rewrite is not None and rewrite.canary:
            plant_canary(rewrite.canary, decision, exchange, state)
    state.remember(remembered_by, rewrite)
    return judged


def _effect(result: ToolResult, rewrite: Rewrite | None, delay_s: float) -> str | None:
    did = [f"delayed by {delay_s * 1000:g} ms"] if delay_s > 0 else []
    if rewrite is not None:
        did.append("replaced")
    return f"result of `{result.name}` {' and '.join(did)}" if did else None


def apply_attack(
    protocol: Protocol, body: bytes, decision: Decision, dice: Dice, exchange: Exchange, state: SessionState
) -> str | None:
    """Let a fault choose what shall read differently, and remember it; what it did, in words."""
    fault, subject = decision.entry.fault, decision.subject
    if not isinstance(fault, RequestFault):
        return None
    try:
        texts = protocol.edits.texts(body)
    except WireError:
        return None
    effects = []
    for retold in fault.rewrite_texts(texts, dice.held(decision.entry.id, subject.key, subject.n)):
        if digest(retold.place) in state.rewritten_texts:
            continue  # changed once already, in this request or an earlier one
        state.remember_text(digest(retold.place), retold.text)
        effects.append(retold.effect)
        if retold.canary:
            plant_canary(retold.canary, decision, exchange, state)
    return "; ".join(dict.fromkeys(effects)) or None


def reapply(protocol: Protocol, body: bytes, state: SessionState) -> bytes:
    """The body with every text that was ever changed in this session."""
    if not state.rewritten_texts:
        return body
    try:
        texts = protocol.edits.texts(body)
    except WireError:
        return body
    changed: dict[Path, str] = {}
    for place in texts:
        text = state.rewritten_texts.get(digest(place))
        if text is not None:
            changed[place.path] = text
    return protocol.edits.rewrite_texts(body, changed) if changed else body


def digest(place: TextPlace) -> str:
    """What a text is known by: who says it, where in the conversation, and its words."""
    said = place.text.encode("utf-8", "surrogatepass")
    return _core.sha256_hex(f"{place.role}\x00{place.turn}\x00".encode() + said)


def plant_canary(canary: str, decision: Decision, exchange: Exchange, state: SessionState) -> None:
    """Look out for a canary from the next request on."""
    fault = decision.entry.fault
    state.plant(canary, PlantedCanary(decision.entry.id, fault.name, fault.site, exchange.number))


def plant_canaries(chain: Iterable[ActiveFault], exchange: Exchange, state: SessionState) -> None:
    """Look out for what a tool's own exchange has planted, before the agent can have read it."""
    for active in chain:
        if active.mutator is not None and active.mutator.canary is not None:
            plant_canary(active.mutator.canary, active.decision, exchange, state)


def returned_canaries(
    exchange: Exchange, state: SessionState, *, within: bool = False
) -> Iterator[FaultFired]:
    """A line of the ledger for every canary that stands in this request as the agent sent it; `within`:
    also one that was planted in this very exchange, by an earlier message."""
    if not state.canaries:
        return
    request = exchange.request
    places = {"address": request.url.encode("utf-8", "replace"), "body": request.body or b""}
    places["headers"] = "\n".join(value for _, value in request.headers).encode("latin-1", "replace")
    for canary, planted in state.canaries.items():
        found = [name for name, data in places.items() if canary.lower().encode() in data.lower()]
        if found and (exchange.number > planted.number or within):
            where = " and ".join(found)
            reason = (
                f"the canary of exchange {planted.number} is in the {where} of a request to `{request.host}`"
            )
            yield FaultFired(
                fault=planted.fault,
                id=planted.entry,
                site=planted.site,
                outcome="returned",
                reason=reason,
                key=exchange.key,
                n=exchange.n,
                attempt=exchange.attempt,
                subject=exchange.tool,
                effect=f"canary `{canary}` came back",
            )
