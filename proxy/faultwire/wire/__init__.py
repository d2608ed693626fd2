"""What travels on the wire: recognition, views, edits and errors of each protocol. No socket, no clock."""

from __future__ import annotations

from faultwire.wire._classify import Classified, classify, may_be_model
from faultwire.wire._confirm import revoked
from faultwire.wire._earlier import Earlier
from faultwire.wire._fingerprint import VOLATILE, fingerprint, tool_key
from faultwire.wire._recognise import provider_of
from faultwire.wire._registry import protocol, protocols, text_members
from faultwire.wire._retries import attempt
from faultwire.wire._signed import WHY as SIGNED
from faultwire.wire._signed import is_signed, signs_header
from faultwire.wire._tool_sites import tool_site
from faultwire.wire._understood import Understood, understood
from faultwire.wire._weight import WHY as HEAVY
from faultwire.wire._weight import is_heavy
from faultwire.wire.told import Told, conversation

__all__ = [
    "HEAVY",
    "SIGNED",
    "VOLATILE",
    "Classified",
    "Earlier",
    "Told",
    "Understood",
    "attempt",
    "classify",
    "conversation",
    "fingerprint",
    "is_heavy",
    "is_signed",
    "may_be_model",
    "protocol",
    "protocols",
    "provider_of",
    "revoked",
    "signs_header",
    "text_members",
    "tool_key",
    "tool_site",
    "understood",
]
