"""One fault on one exchange while it runs: its decision, its mutator, and what came of it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from faultwire.events import Close, Cut, Reset, Send, with_header
from faultwire.faults._api import Mutator
from faultwire.wire.framing.grpc_status import parted

if TYPE_CHECKING:
    from collections.abc import Iterable

    from faultwire.dice import Dice
    from faultwire.events import Action, Chunk, Exchange, FaultFired, Headers, Outcome, Response
    from faultwire.exchange.plan import Decision
    from faultwire.exchange.session_state import SessionState
    from faultwire.faults._api import Need

MARK = "x-faultwire-fault"
"""The header that names a fault in the answer that it gave, for profiles that are `marked`."""

END = Cut | Reset | Close
"""What ends an exchange."""


@dataclass(slots=True)
class ActiveFault:
    """A decision and, where it fires, its mutator. `dropped` says why it no longer acts."""

    decision: Decision
    mutator: Mutator | None
    dropped: tuple[Outcome, str] | None = None

    @property
    def acts(self) -> bool:
        """Is there still something to ask it?"""
        return self.mutator is not None and self.dropped is None

    @property
    def ident(self) -> str:
        """The entry's id."""
        return self.decision.entry.id

    @property
    def needs(self) -> Need:
        """What it must be shown."""
        return self.decision.entry.fault.needs


class _Steps(dict[type[Mutator], frozenset[str]]):
    """Found once for each kind of mutator: there are as many as faults."""

    def __missing__(self, kind: type[Mutator]) -> frozenset[str]:
        own = frozenset(name for name in _NAMES if getattr(kind, name) is not getattr(Mutator, name))
        self[kind] = own
        return own


STEPS = _Steps()
"""The steps of an exchange at which mutators of a kind do anything. At the others they are not asked."""


def shapes_response(mutator: Mutator) -> bool:
    """Can it change what upstream's answer looks like? One that only waits before the call cannot."""
    return not STEPS[type(mutator)].isdisjoint(_SHAPING)


_SHAPING = frozenset(("head", "feed", "finish", "trailers", "upward"))
_NAMES = ("before", "answer", "passing", *sorted(_SHAPING))


def depth(active: ActiveFault) -> int:
    """How far outside a fault acts on a response; equal ones keep their order."""
    fault = active.decision.entry.fault
    return 2 if fault.site == "connection" else int(fault.outermost)


def mark_answer(active: ActiveFault, response: Response) -> Response:
    """An answer of ours, which says so where it is asked to: to SDKs that are not to repeat the call, and
    to whoever looks for `x-faultwire-fault`."""
    entry, headers = active.decision.entry, response.headers
    if entry.trigger.no_sdk_retry:
        headers = with_header(headers, "x-should-retry", "false")
    if entry.mark:
        headers = with_header(headers, MARK, entry.fault.name)
    return response if headers is response.headers else replace(response, headers=headers)


class ReplacementAnswer(Mutator):
    """Gives an answer in place of one that upstream has already begun."""

    replaces = True

    def __init__(self, fault: Mutator, answer: Response) -> None:
        self._answer, self._trailers = parted(answer)
        self.effect = fault.effect

    def head(self, response: Response) -> Response:
        """Ours."""
        return self._answer

    def trailers(self, headers: Headers) -> Headers:
        """Ours."""
        return self._trailers

    def feed(self, chunk: Chunk) -> Iterable[Action]:
        """Nothing of upstream's."""
        return ()

    def finish(self) -> Iterable[Action]:
        """Our body."""
        yield Send(self._answer.body or b"")


def ledger_line(active: ActiveFault) -> FaultFired:
    """The line of the ledger for a decision and what came of it."""
    decision, mutator = active.decision, active.mutator
    if mutator is None or (decision.verb != "fire" and mutator.effect is None):
        return decision.line()
    if active.dropped is not None:
        return decision.line(*active.dropped)
    return decision.line("fired" if mutator.effect else "no_effect", effect=mutator.effect)


def activate(decision: Decision, exchange: Exchange, dice: Dice, state: SessionState) -> ActiveFault:
    """A decision with its mutator: one that acts, or one that only takes notes."""
    fault, subject, ident = decision.entry.fault, decision.subject, decision.entry.id
    mutator: Mutator | None = None
    if decision.verb == "fire":
        mutator = fault.start(exchange, dice.held(ident, subject.key, subject.n))
    elif decision.verb == "skip":
        mutator = fault.watch(exchange)
    if mutator is not None:
        mutator.arrived(state.memory(ident), exchange.at_s)
    return ActiveFault(decision, mutator)


def release_unfired(all_running: Iterable[ActiveFault], state: SessionState) -> None:
    """Give back the slots of faults that did not fire by the end of their exchange.

    `max_times` counts what fired. A decision takes its place when it is made, so that exchanges under
    way at the same time do not share one, and gives it back here if nothing came of it: the client left
    before its turn, another fault ended the exchange, or there was nothing to act on. Which call comes
    next in its place depends on nothing but when exchanges begin and end, as all counting does.
    """
    for active in all_running:
        decision = active.decision
        if decision.counted and decision.call[0] == "fire":
            fired = active.mutator is not None and active.dropped is None and bool(active.mutator.effect)
            state.record_outcome(decision.entry.id, decision.subject, fired=fired)
