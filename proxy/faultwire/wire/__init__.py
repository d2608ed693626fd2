"""What travels on the wire: recognition, views, edits and errors of each protocol. No socket, no clock."""

from __future__ import annotations

from faultwire.wire._classify import Classified, classify, may_be_model
from faultwire.wire._fingerprint import VOLATILE, fingerprint, tool_key
from faultwire.wire._registry import protocol, protocols
from faultwire.wire._signed import WHY as SIGNED
from faultwire.wire._signed import is_signed, signs_header
from faultwire.wire.told import Told, conversation

__all__ = [
    "SIGNED",
    "VOLATILE",
    "Classified",
    "Told",
    "classify",
    "conversation",
    "fingerprint",
    "is_signed",
    "may_be_model",
    "protocol",
    "protocols",
    "signs_header",
    "tool_key",
]
