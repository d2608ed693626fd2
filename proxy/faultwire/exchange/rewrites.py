"""Attacks on the conversation that the model reads, kept up for as long as the conversation lasts.

A text that was changed once is changed again in every later request of the same conversation, because
clients resend what they know. No other conversation is changed by it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from faultwire import _core
from faultwire.errors import WireError
from faultwire.events import FaultFired
from faultwire.exchange.canaries import plant_canary
from faultwire.exchange.conversation import AGAIN, Conversation, RewrittenText
from faultwire.exchange.request_out import with_body
from faultwire.exchange.stage import ExchangeState, Stage
from faultwire.exchange.trigger import chance_of
from faultwire.faults._api import RequestFault
from faultwire.profile.match import mismatch

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from faultwire.dice import Dice
    from faultwire.events import Action, Exchange, Path
    from faultwire.exchange.active_fault import ActiveFault
    from faultwire.exchange.plan import Decision
    from faultwire.exchange.session_state import SessionState
    from faultwire.profile.entry_model import Entry
    from faultwire.profile.model import Profile
    from faultwire.wire.editing.api import TextPlace
    from faultwire.wire.protocol import Protocol


class PersistentRewrites(Stage):
    """Changes texts of the request, and those of earlier requests of its conversation again."""

    def __init__(self, state: ExchangeState) -> None:
        super().__init__(state)
        self._lines: list[FaultFired] = []

    def forward(self) -> Iterable[Action]:
        """Let each attack choose its texts, then change all that were chosen in this conversation."""
        at, chain = self.state, self.state.chain
        protocol, body, conversation = at.protocol, at.request.body, at.conversation
        if chain.ended or chain.answer is not None or at.withheld is not None:
            return ()  # nobody gets the request
        if protocol is None or body is None:
            return ()
        if at.exchange.view is None or conversation is None:
            return ()
        changed, lines = attacked(protocol, body, at, conversation, chain.all)
        at.request = with_body(at.request, changed)
        self._lines.extend(lines)
        return ()

    def ledger(self) -> Iterable[FaultFired]:
        """A line for each attack of an earlier request that stands in this one, too."""
        return self._lines


class ChangedText(NamedTuple):
    """A text that is changed in this request: who chose it, and in which history."""

    entry: Entry
    history: str
    text: RewrittenText


def attacked(
    protocol: Protocol,
    body: bytes,
    at: ExchangeState,
    conversation: Conversation,
    attacks: Iterable[ActiveFault],
) -> tuple[bytes, list[FaultFired]]:
    """The body with every text that was ever changed in its conversation, and the ledger's lines about
    those that this request did not bring."""
    context, exchange = at.context, at.exchange
    try:
        texts = conversation.texts if body is conversation.body else protocol.edits.texts(body)
    except WireError:
        return body, []
    firing = [one for one in attacks if one.acts and one.decision.verb == "fire"]
    history = conversation.histories[-1]
    for active in firing:
        choose(active.decision, texts, history, context.dice, exchange, context.state)
    changes = _changes(texts, conversation, context.profile, exchange, context.state)
    if not changes:
        return body, []
    by_entry: dict[str, list[ChangedText]] = {}
    for change in changes.values():
        by_entry.setdefault(change.entry.id, []).append(change)
    for active in firing:
        mine = [one for one in by_entry.get(active.ident, ()) if one.history == history]
        if mine and active.mutator is not None:
            active.mutator.effect = _effect(mine)
            del by_entry[active.ident]
    lines = [_again(exchange, mine) for mine in by_entry.values()]
    return protocol.edits.rewrite_texts(body, {path: one.text.text for path, one in changes.items()}), lines


def choose(
    decision: Decision,
    texts: Sequence[TextPlace],
    history: str,
    dice: Dice,
    exchange: Exchange,
    state: SessionState,
) -> None:
    """Let an attack choose which texts shall read differently in a history, once."""
    entry, fault = decision.entry, decision.entry.fault
    if not isinstance(fault, RequestFault) or state.rewritten_texts.chosen(history, entry.id) is not None:
        return
    key, n = chance_of(entry.compiled, decision.subject, exchange)
    chosen: list[RewrittenText] = []
    for rewritten in fault.rewrite_texts(texts, dice.held(entry.id, key, n)):
        chosen.append(
            RewrittenText(digest(rewritten.place), rewritten.text, rewritten.effect, exchange.number)
        )
        if rewritten.canary:
            plant_canary(rewritten.canary, decision, exchange, state)
    if chosen:
        state.rewritten_texts.remember(history, entry.id, tuple(chosen))


def _changes(
    texts: Sequence[TextPlace],
    conversation: Conversation,
    profile: Profile,
    exchange: Exchange,
    state: SessionState,
) -> dict[Path, ChangedText]:
    """Which places of this request are changed. Of several that chose one text the oldest history counts,
    and within it the first entry of the profile, whichever request came first."""
    taken: dict[str, ChangedText] = {}
    for history, chosen in state.rewritten_texts.within(conversation.histories):
        for entry in _still_meant(profile, exchange, chosen):
            for text in chosen[entry.id]:
                taken.setdefault(text.digest, ChangedText(entry, history, text))
    found = ((place.path, taken.get(digest(place))) for place in texts) if taken else ()
    return {path: change for path, change in found if change is not None}


def _still_meant(profile: Profile, exchange: Exchange, chosen: Iterable[str]) -> Iterator[Entry]:
    """The entries, in the profile's order, that this request matches as well."""
    known = set(chosen)
    for entry in profile.composed:
        if entry.id not in known or entry.fault.inapplicable(exchange) is not None:
            continue
        if mismatch(entry.on.lasting, exchange, protocols=entry.fault.protocols) is None:
            yield entry


def _effect(changes: Iterable[ChangedText]) -> str:
    return "; ".join(dict.fromkeys(change.text.effect for change in changes))


def _again(exchange: Exchange, changes: list[ChangedText]) -> FaultFired:
    """The line for what an earlier request brought."""
    entry = changes[0].entry
    return FaultFired(
        fault=entry.fault.name,
        id=entry.id,
        site=entry.fault.site,
        outcome="reapplied",
        reason=AGAIN.format(min(change.text.exchange for change in changes)),
        key=exchange.key,
        n=exchange.n,
        attempt=exchange.attempt,
        effect=_effect(changes),
        settings=entry.settings,
    )


def digest(place: TextPlace) -> str:
    """What a text is known by in its conversation: who says it, where, and its words."""
    encoded = place.text.encode("utf-8", "surrogatepass")
    return _core.sha256_hex(f"{place.role}\x00{place.turn}\x00".encode() + encoded)
