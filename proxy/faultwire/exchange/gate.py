"""The gate: exchanges on which no entry acts are decided in one call into the core.

What look-alike exchanges may match is found once (`profile.candidates`) and compiled once per session. For an
exchange the core then says why each of these entries waits, and counts it, or that one may fire: then nothing
was counted, and the stages of the pipeline decide as if the gate were not there. The lines of the ledger, the
counts and the rolls are the same either way; `tests/property/test_gate.py` holds that.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from faultwire import _core
from faultwire.events import FaultFired
from faultwire.exchange.agent_cards import needs_card
from faultwire.profile.match import mismatch
from faultwire.wire.framing import split as framing

if TYPE_CHECKING:
    from faultwire.dice import Dice
    from faultwire.events import Exchange, Outcome
    from faultwire.exchange.session_state import SessionState
    from faultwire.exchange.stage import ExchangeState
    from faultwire.profile.entry_model import CompiledEntry

KEPT = 512
"""Gates of a session; as many as `profile.candidates` remembers kinds of exchange."""
_LARGEST = 1 << 53
"""Counts up to which the core reckons as Python does."""


@dataclass(slots=True, eq=False)
class EntryGate:
    """Some entries, in the order in which they are composed, for exchanges of one session that look alike.

    `core` is None where one of them has to be decided on in Python. Those that `match` look at more than what
    makes exchanges look alike; the faults of those that `ask` say themselves whether they can act.
    """

    entries: tuple[CompiledEntry, ...]
    dice: Dice
    core: _core.EntryGate | None
    match: tuple[tuple[int, CompiledEntry], ...] = ()
    ask: tuple[tuple[int, CompiledEntry], ...] = ()

    def wait(self, exchange: Exchange) -> _core.WaitingEntries | None:
        """Why none acts on an exchange, None where one may."""
        if self.core is None:
            return None
        left_out: list[int] = []
        refused: list[tuple[int, str]] = []
        for place, entry in self.match:
            if mismatch(entry.entry.on, exchange, protocols=entry.protocols) is not None:
                left_out.append(place)
        for place, entry in self.ask:
            if place not in left_out and (why := entry.inapplicable(exchange)) is not None:
                refused.append((place, why))
        return self.core.wait(exchange.key, exchange.n, exchange.at_s, left_out, refused)


@dataclass(slots=True, eq=False)
class WaitingLines:
    """Entries that wait, and the exchange that they wait on."""

    entries: tuple[CompiledEntry, ...]
    waiting: _core.WaitingEntries
    exchange: Exchange

    def ledger(self) -> list[FaultFired]:
        """A line for each."""
        at, entries = self.exchange, self.entries
        key, n, attempt, name = at.key, at.n, at.attempt, at.tool or at.agent
        lines: list[FaultFired] = []
        for place, reason, unit, counted in self.waiting.lines():
            entry = entries[place]
            outcome: Outcome = "skipped" if counted else "inapplicable"
            line = FaultFired(
                entry.name, entry.id, entry.site, outcome, reason,
                key, n, attempt, unit, name, None, entry.settings,
            )  # fmt: skip
            lines.append(line)
        return lines


def wait(at: ExchangeState) -> WaitingLines | None:
    """The lines of an exchange on which all that may act waits; None where a stage may have something to do.

    The exchange is understood, its request as the agent sent it.
    """
    exchange, session = at.exchange, at.context.state
    if exchange.attempt or at.withheld is not None or session.only is not None or session.canaries:
        return None
    if _concerns_others(at) or session.is_decided((exchange.key, exchange.n)):
        return None
    gate = _gate(at.context.profile.candidates.of(exchange), exchange, at.context.dice, session)
    found = gate.wait(exchange)
    if found is None:
        return None
    session.note_waiting((exchange.key, exchange.n), found)
    return WaitingLines(gate.entries, found, exchange)


def _concerns_others(at: ExchangeState) -> bool:
    """May a stage other than that of the faults have something to do?"""
    profile, exchange, protocol = at.context.profile, at.exchange, at.protocol
    candidates, request = profile.candidates, exchange.request
    if candidates.rewrite_texts or framing.wants_socket(request) or (protocol and protocol.socket):
        return True
    if candidates.name_agents and needs_card(profile, request):
        return True
    if candidates.replace_results and protocol is not None:
        return bool(exchange.view is not None and exchange.view.results) or protocol.keeps(request)
    return False


def _gate(
    entries: tuple[CompiledEntry, ...], exchange: Exchange, dice: Dice, session: SessionState
) -> EntryGate:
    found: EntryGate | None = session.gates.get(id(entries))
    if found is not None and found.entries is entries and found.dice is dice:
        return found
    made = session.gates[id(entries)] = _made(entries, exchange, dice, session)
    if len(session.gates) > KEPT:
        session.gates.popitem(last=False)
    return made


def _made(
    entries: tuple[CompiledEntry, ...], exchange: Exchange, dice: Dice, session: SessionState
) -> EntryGate:
    """The gate of entries, made for an exchange that stands for all that look like it."""
    if not all(entry.only_waits and _countable(entry) for entry in entries):
        return EntryGate(entries, dice, None)
    places = tuple(enumerate(entries))
    return EntryGate(
        entries,
        dice,
        _core.EntryGate(session.triggers, dice.stem, [_trigger(entry, exchange) for entry in entries]),
        tuple((place, entry) for place, entry in places if not entry.entry.on.settled),
        tuple((place, entry) for place, entry in places if entry.asks is not None),
    )


def _countable(entry: CompiledEntry) -> bool:
    recovery = entry.recover_after
    numbers = (
        entry.after_calls,
        entry.first,
        entry.every,
        entry.max_times,
        *(entry.calls or ()),
        *(stage.for_calls for stage in entry.stages or ()),
        recovery.calls if recovery is not None else None,
    )
    return entry.stages != () and sum(number or 0 for number in numbers) < _LARGEST


def _trigger(entry: CompiledEntry, exchange: Exchange) -> dict[str, Any]:
    """A trigger as the core reads it; its sentences are those of `exchange.trigger`."""
    between, calls, recovery = entry.between_s, entry.calls, entry.recover_after
    recovers_calls = recovers_s = None
    if recovery is not None and recovery.calls is not None:
        times = f"{recovery.calls} call{'s' * (recovery.calls != 1)}"
        recovers_calls = (recovery.calls, f"recovered after {times}")
    if recovery is not None and recovery.s is not None:
        recovers_s = (recovery.s, f"recovered after {recovery.s:g} s")
    return {
        "id": entry.id,
        "inapplicable": entry.inapplicable(exchange) if entry.asks is None else None,
        "between_s": between and (*between, f" s is not between {between[0]:g} and {between[1]:g} s"),
        "after_calls": entry.after_calls,
        "first": entry.first,
        "calls": None if calls is None else (calls, f" is none of {', '.join(map(str, calls))}"),
        "every": entry.every,
        "recovers_calls": recovers_calls,
        "recovers_s": recovers_s,
        "max_times": entry.max_times,
        "stages": _stages(entry),
    }


def _stages(entry: CompiledEntry) -> list[tuple[int | None, float, str]]:
    """Shares of calls with the last call of each, and what is written where it does not fire."""
    if entry.stages is None:
        share = entry.probability
        return [] if share is None else [(None, share, f"rolled {share} or more")]
    found: list[tuple[int | None, float, str]] = []
    end = 0
    for number, stage in enumerate(entry.stages, 1):
        end += stage.for_calls or 0
        until = None if stage.for_calls is None else end
        found.append((until, stage.probability, f"rolled {stage.probability} of stage {number} or more"))
    return found
