"""Attacks on the conversation that the model reads, kept up over a whole session.

A text that was changed once is changed again in every later request, because clients resend what they
know.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from faultwire import _core
from faultwire.errors import WireError
from faultwire.exchange.canaries import plant_canary
from faultwire.exchange.request_out import with_body
from faultwire.exchange.stage import Stage
from faultwire.faults._api import RequestFault

if TYPE_CHECKING:
    from collections.abc import Iterable

    from faultwire.dice import Dice
    from faultwire.events import Action, Exchange, Path
    from faultwire.exchange.plan import Decision
    from faultwire.exchange.session_state import SessionState
    from faultwire.wire.editing.api import TextPlace
    from faultwire.wire.protocol import Protocol


class PersistentRewrites(Stage):
    """Changes texts of the request, and those of earlier requests again."""

    def forward(self) -> Iterable[Action]:
        """Let each attack choose its texts, then change all that were ever chosen."""
        at, context = self.state, self.state.context
        chain, protocol, body = at.chain, at.protocol, at.request.body
        if chain.ended or chain.answer is not None or protocol is None or body is None:
            return ()
        if at.exchange.view is None:
            return ()
        for active in chain.all:
            mutator = active.mutator
            if mutator is not None and active.decision.verb == "fire":
                mutator.effect = mutator.effect or apply_attack(
                    protocol, body, active.decision, context.dice, at.exchange, context.state
                )
        at.request = with_body(at.request, reapply(protocol, body, context.state))
        return ()


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
