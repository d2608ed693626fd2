"""What travels on the wire: recognition, views, edits and errors of each protocol. No socket, no clock."""

from __future__ import annotations

from faultwire.wire.classify import Classified, classify, may_be_model, revoked
from faultwire.wire.conversation_history import ConversationHistory
from faultwire.wire.recognition.fingerprint import VOLATILE, fingerprint, tool_key
from faultwire.wire.recognition.recognise import provider_of
from faultwire.wire.recognition.signed import WHY as SIGNED, is_signed, signs_header
from faultwire.wire.recognition.size_limit import UNREAD, WHY as HEAVY, is_heavy
from faultwire.wire.registry import protocol, protocols, text_members
from faultwire.wire.tool_sites import tool_site
from faultwire.wire.transcript.exchange import Transcript, transcript_of
from faultwire.wire.understand import Understanding, attempt, understand, view_of

__all__ = [
    "HEAVY",
    "SIGNED",
    "UNREAD",
    "VOLATILE",
    "Classified",
    "ConversationHistory",
    "Transcript",
    "Understanding",
    "attempt",
    "classify",
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
    "transcript_of",
    "understand",
    "view_of",
]
