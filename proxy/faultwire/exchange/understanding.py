"""The first stage: what the request is, what it says, and which logical call it belongs to."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from faultwire import wire
from faultwire.events import Exchange
from faultwire.exchange.conversation import conversation_of
from faultwire.exchange.plan import unread_request
from faultwire.exchange.stage import Stage

if TYPE_CHECKING:
    from collections.abc import Iterable

    from faultwire.events import FaultFired, Request, RequestView
    from faultwire.exchange.stage import ExchangeState
    from faultwire.profile.model import Profile


def understood(at: ExchangeState) -> None:
    """Classify the request with its body and number the logical call: replaces the exchange by one that is
    understood, and notes where a tool is called.

    What the request says is viewed only where something in the profile may look at it; `with_view` does it
    later.
    """
    context = at.context
    profile, session, begun, request = context.profile, context.state, at.exchange, at.request
    reads = profile.candidates.read_views or bool(profile.instructed)
    found = wire.understand(
        request, profile.tools, profile.agents, session.peers, session.conversations, view=reads
    )
    at.protocol, view = found.protocol, found.view
    if view is not None and session.tools:
        view = session.with_tool_names(view)
    if view is not None and found.protocol is not None and profile.candidates.rewrite_texts:
        at.conversation = conversation_of(found.protocol, request, view.results)
    spoken = found.protocol
    declared = wire.attempt(request, None) if spoken is None else spoken.attempt(request)
    n, attempt = session.numbered(found.key, declared)
    # Made anew, and once: `dataclasses.replace` was a sixth of what a pipeline costs.
    at.exchange = Exchange(
        session=begun.session,
        number=begun.number,
        request=request,
        kind=found.kind,
        protocol=found.protocol.name if found.protocol else None,
        provider=found.provider,
        tool=found.tool,
        view=view,
        key=found.key,
        n=n,
        attempt=attempt,
        at_s=begun.at_s,
        agent=found.agent,
        caller=begun.caller or (_instructed(profile, request, view) if profile.instructed else None),
        history=at.conversation.chance if at.conversation is not None else "",
        http2=begun.http2,
    )
    site = wire.tool_site(at.exchange) if found.kind == "tool" else None
    if site is not None:
        session.note_call(site.call.name, site.name)
    at.is_viewed, at.unread = reads, found.unread


def with_view(at: ExchangeState) -> None:
    """View what the request says, where nobody has: a fault may look at it."""
    if at.is_viewed or at.protocol is None or at.unread is not None:
        return
    session = at.context.state
    view = wire.view_of(at.protocol, at.request, session.conversations)
    if view is not None and session.tools:
        view = session.with_tool_names(view)
    at.exchange, at.is_viewed = replace(at.exchange, view=view), True


class Understanding(Stage):
    """What was found about the request, which is understood before any stage is asked."""

    def ledger(self) -> Iterable[FaultFired]:
        """A line for each entry that may have meant a request which nobody could read."""
        why = self.state.unread
        return () if why is None else unread_request(self.state.context.profile, self.state.exchange, why)


def _instructed(profile: Profile, request: Request, view: RequestView | None) -> str | None:
    """The one agent whose instructions a request to a model holds; None where none fits, or several do."""
    from faultwire.wire.senders import instructions_in, marks_of

    instructions = instructions_in(view) if view is not None else None
    found = [mark.name for mark in marks_of(profile.instructed) if mark.on(request.headers, instructions)]
    return found[0] if len(found) == 1 else None
