"""What faults on requests delivered to the model, for the ledger's hash."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from faultwire import wire
from faultwire.tape.read import decode
from faultwire.wire.recognition.placeholders import unkeyed_request

if TYPE_CHECKING:
    from faultwire.events import FaultFired, Message, Request
    from faultwire.tape.read.decode import EventDecoder
    from faultwire.tape.read.lazy_bodies import Fetch

ACTED = ("fired", "reapplied")
"""Outcomes of a fault that changed something."""
SITES = ("request", "result")
"""Where faults change what a model reads: texts of the request, and results of tools in it."""


def is_attack(line: FaultFired) -> bool:
    """Did a fault act on what a model reads, by this line of the ledger?"""
    return line.site in SITES and line.outcome in ACTED


def changed_requests(gathered: EventDecoder, blob: Fetch) -> list[str]:
    """Fingerprints of what one exchange delivered to a model otherwise than the agent sent it.

    Placeholders of redacted values count by their order: the same traffic gives the same fingerprints in
    every project. Raises as `decode` does.
    """
    recorded = decode.decode(gathered, blob)
    if recorded is None or recorded.kind != "llm":
        return []
    sent = decode.forwarded(gathered, blob)
    found = [_fingerprint(sent)] if sent is not None else []
    made = [replace(recorded.request, body=one.data) for one in recorded.messages if _is_made_for_server(one)]
    return [one for one in (*found, *map(_fingerprint, made)) if one != _fingerprint(recorded.request)]


def _is_made_for_server(message: Message) -> bool:
    """Is it a WebSocket message that the server got and that the client did not send so?"""
    made = message.sent_ns is None and message.delivered_ns is not None
    return message.by == "client" and message.kind == "text" and made


def _fingerprint(request: Request) -> str:
    return wire.fingerprint(unkeyed_request(request), "llm")
