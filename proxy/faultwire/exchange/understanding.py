"""The first stage: what the request is, what it says, and which logical call it belongs to."""

from __future__ import annotations

from typing import TYPE_CHECKING

from faultwire import wire
from faultwire.events import Exchange
from faultwire.exchange.conversation import conversation_of
from faultwire.exchange.plan import unread_request
from faultwire.exchange.stage import Stage

if TYPE_CHECKING:
    from collections.abc import Iterable

    from faultwire.events import FaultFired


class Understanding(Stage):
    """Classifies the request with its body, views it, and numbers the logical call."""

    def on_request(self) -> None:
        """Replace the exchange by one that is understood, and note where a tool is called."""
        at, context = self.state, self.state.context
        profile, session, begun, request = context.profile, context.state, at.exchange, at.request
        found = wire.understand(request, profile.tools, profile.agents, session.peers, session.conversations)
        at.protocol = found.protocol
        view = session.with_tool_names(found.view) if found.view else None
        if view is not None and found.protocol is not None and profile.candidates.rewrite_texts:
            at.conversation = conversation_of(found.protocol, request, view.results)
        n, attempt = session.numbered(found.key, wire.attempt(request, found.protocol))
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
            caller=begun.caller,
            history=at.conversation.chance if at.conversation is not None else "",
            http2=begun.http2,
        )
        self._unread = found.unread
        site = wire.tool_site(at.exchange)
        if site is not None:
            session.note_call(site.call.name, site.name)

    def ledger(self) -> Iterable[FaultFired]:
        """A line for each entry that may have meant a request which nobody could read."""
        if self._unread is None:
            return ()
        return unread_request(self.state.context.profile, self.state.exchange, self._unread)
