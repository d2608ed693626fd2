"""What travels on the wire: recognition, views, edits and errors of each protocol. No socket, no clock."""

from __future__ import annotations

from faultwire.wire._classify import Classified, classify, may_be_model
from faultwire.wire._fingerprint import VOLATILE, fingerprint, tool_key
from faultwire.wire._registry import protocol, protocols

__all__ = [
    "VOLATILE",
    "Classified",
    "classify",
    "fingerprint",
    "may_be_model",
    "protocol",
    "protocols",
    "tool_key",
]
