"""The rules of AgentOps Replay's verifiers over one session, restated as findings.

A hash is over canonical JSON, and its canonical JSON is not RFC 8785 for every number. Each hash is therefore
computed both ways: one that fits only its own is reported once, in a note, and counts as right.
"""

from __future__ import annotations

import hashlib
import hmac
import re
from typing import TYPE_CHECKING, Any

from faultwire.tape.import_._agentops_json import REDACTED, digests, redactions
from faultwire.tape.import_._agentops_signed import Signatures
from faultwire.tape.import_._api import Found
from faultwire.tape.import_._source import parsed

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

Json = dict[str, Any]

_HASH = re.compile(r"[0-9a-f]{64}\Z")
GENESIS = "0" * 64
_SHORT = 16
"""Digits of a digest that no other event's hash begins with by accident."""
_ALL = ("session_id", "event_type", "payload", "event_hash")
_SIGNED = (
    *("event_id", "session_id", "sequence_number", "timestamp_wall", "event_type", "payload_hash"),
    "prev_event_hash",
)
_FIELDS = {
    "v0.6": (*_SIGNED, "payload", "event_hash", "schema_ver"),
    "ELS 1.0": (*_ALL, "seq", "timestamp", "prev_hash"),
}
_HMACS = ("hmac", "seal_hmac", "server_hmac")
_OF_A_SERVER = ("ingestion_service_id", "seal_timestamp", "session_digest")
"""What a seal says that a server of the first generation made."""
_BOTH = frozenset(("SESSION_START", "SESSION_END", "TOOL_CALL", "TOOL_RESULT", "LOG_DROP", "CHAIN_SEAL"))
_DECLARED = frozenset(("CHAIN_BROKEN", "REDACTION", "FORENSIC_FREEZE"))
_OLD = ("MODEL_REQUEST", "MODEL_RESPONSE", "AGENT_STATE_SNAPSHOT", "DECISION_TRACE", "ERROR", "ANNOTATION")
_TYPES = {
    "v0.6": _BOTH.union(_OLD),
    "ELS 1.0": _BOTH | _DECLARED | {"LLM_CALL", "LLM_RESPONSE", "TOOL_ERROR"},
}


def generation(event: Json) -> str:
    """`v0.6` for the first generation (v0.5 too), else `ELS 1.0`."""
    return "v0.6" if "sequence_number" in event or "prev_event_hash" in event else "ELS 1.0"


class Chain:
    """One session: takes its events in the order of the file. `key` is the one of the seals' HMAC."""

    def __init__(self, session: str, version: str, key: bytes | None = None) -> None:
        self.session = session
        self.version = version
        self.events = 0
        self.drops = 0
        self._old = version == "v0.6"
        self._next = 0 if self._old else 1
        self._prev: Any = None if self._old else GENESIS
        self._authority: Any = None
        self._digest = hashlib.sha256(session.encode("utf-8", "surrogatepass"))
        self._ended = self._sealed = self._started = False
        self._own_numbers = 0
        self._key = key
        self._signatures = Signatures()

    def number(self, event: Json) -> int | None:
        """The number that an event has."""
        value = event.get("sequence_number" if self._old else "seq")
        return (
            value if isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 1 << 53 else None
        )

    def take(self, event: Json) -> Iterator[Found]:
        """What is wrong with the next event."""
        here = f"event {self.events} of session `{self.session[:80]}`"
        for code, message in (
            *self._form(event),
            *self._hashes(event),
            *self._link(event),
            *self._order(event),
        ):
            yield Found(f"agentops_{code}", f"{here} {message}")
        payload = event.get("payload")
        if isinstance(payload, str):  # exports keep the canonical text
            payload = _parsed(payload)
        if isinstance(payload, dict):
            yield from self._contents(event, payload, here)
        if not self._old:
            yield from self._signatures.take(event, payload, here)
        self.events += 1
        claimed = event.get("event_hash")
        self._prev = claimed
        if event.get("event_type") != "CHAIN_SEAL" and isinstance(claimed, str):
            self._digest.update(claimed.encode("utf-8", "surrogatepass"))

    def close(self) -> Iterator[Found]:
        """What is missing at the end, and what nobody can prove."""
        here = f"session `{self.session[:80]}`"
        if not self._started:
            yield Found("agentops_start_missing", f"{here} has no SESSION_START")
        if not self._ended:
            # Its second generation fails what has neither an end nor a seal, its first one does not.
            note = self._old or self._sealed
            yield Found("agentops_session_open", f"{here} never ended", note=note)
        if not self._sealed:
            yield Found("agentops_seal_missing", f"{here} has no seal", note=True)
        if self._own_numbers:
            text = f"{self._own_numbers} hashes of {here} fit its own number format, which is not RFC 8785's"
            yield Found("agentops_numbers_not_rfc8785", text, note=True)
        yield from self._signatures.close(here)

    def sealed_by(self, seal: Json, before: int) -> Iterator[Found]:
        """What a seal says of the `before` events before it: without an HMAC it needs no key to be made, so
        it proves nothing, and may still contradict them."""
        here = f"the seal of session `{self.session[:80]}`"
        self._sealed = True
        final = seal.get("final_event_hash", seal.get("final_hash"))
        if final is not None and final != self._prev:
            yield Found("agentops_seal_invalid", f"{here} is over another last event: {str(final)[:70]!r}")
        count = seal.get("event_count")
        if count is not None and count not in (before, before + 1):
            yield Found(
                "agentops_seal_invalid", f"{here} counts {str(count)[:30]} events, and {before} are there"
            )
        digest = seal.get("session_digest")
        if isinstance(digest, str) and isinstance(self._prev, str):
            digest_ = self._digest.copy()
            digest_.update(self._prev.encode("utf-8", "surrogatepass"))
            # Its specification writes `sha256:` and the last hash, its server the bare hash, and another of
            # its servers the digest of all; its verifier takes each of them.
            # Its canonical example holds the first 16 digits of the last hash.
            if len(digest) >= _SHORT and self._prev.startswith(digest) and digest != self._prev:
                yield Found(
                    "agentops_digest_short", f"{here} has {len(digest)} digits of a digest", note=True
                )
            elif digest not in (digest_.hexdigest(), self._prev, f"sha256:{self._prev}"):
                yield Found("agentops_digest_mismatch", f"{here} has another digest than its events")
        yield from self._signed(seal, here)

    def _signed(self, seal: Json, here: str) -> Iterator[Found]:
        """Its HMAC, over the text of the last hash before it."""
        stated = next((seal[name] for name in _HMACS if isinstance(seal.get(name), str)), None)
        if self._key is None or stated is None:
            why = "no key that could be checked" if stated is None else "an HMAC, whose key was not given"
            problem = f"{here} is signed by {why}: anybody could have made it"
            yield Found("agentops_seal_unverified", problem, note=True)
            return
        text = str(self._prev).encode("utf-8", "surrogatepass")
        right = hmac.new(self._key, text, hashlib.sha256).hexdigest()
        if not hmac.compare_digest(right.encode(), stated.lower().encode("utf-8", "surrogatepass")):
            yield Found("agentops_hmac_mismatch", f"{here} has an HMAC that is not the key's")

    # ------------------------------------------------------------ rules

    def _form(self, event: Json) -> Iterator[tuple[str, str]]:
        missing = [name for name in _FIELDS[self.version] if name not in event]
        if missing:
            yield "field_missing", f"lacks {', '.join(f'`{name}`' for name in missing)}"
        if not isinstance(event.get("payload", {}), (dict, str)):
            yield "field_malformed", "has a payload that is no object"
        for name in ("event_hash", "payload_hash", "prev_hash", "prev_event_hash"):
            value = event.get(name)
            if value is not None and not (isinstance(value, str) and _HASH.match(value)):
                yield "field_malformed", f"has a `{name}` that is no hash: {str(value)[:70]!r}"
        kind = event.get("event_type")
        if not isinstance(kind, str) or kind not in _TYPES[self.version]:
            yield "event_unknown", f"is of unknown type {str(kind)[:80]!r}"
        if self._old and event.get("schema_ver", "v0.6") not in ("v0.5", "v0.6"):
            yield "schema_version", f"has schema {str(event['schema_ver'])[:40]!r}, expected v0.5 or v0.6"
        authority = event.get("chain_authority")
        if self._old and authority is not None:
            if self._authority is not None and authority != self._authority:
                yield "authority_mixed", f"has authority {str(authority)[:40]!r}, after {self._authority!r}"
            self._authority = str(authority)[:40] if self._authority is None else self._authority

    def _hashes(self, event: Json) -> Iterator[tuple[str, str]]:
        if self._old:
            if "payload_hash" in event and not self._fits(event.get("payload"), event["payload_hash"]):
                yield "payload_mismatch", "has a payload that does not have its hash"
            covered = {name: event.get(name) for name in _SIGNED}
        else:
            covered = {name: value for name, value in event.items() if name != "event_hash"}
        if "event_hash" not in event or self._fits(covered, event["event_hash"]):
            return
        # Its signed branch signs the hash, and so hashes all but the signature.
        bare = {name: value for name, value in covered.items() if name != "signature"}
        if self._old or bare == covered or not self._fits(bare, event["event_hash"]):
            yield "hash_mismatch", "does not have its hash"

    def _fits(self, value: Any, claimed: Any) -> bool:
        ours, theirs = digests(value)
        if claimed is not None and claimed == theirs != ours:
            self._own_numbers += 1
        return claimed is not None and claimed in (ours, theirs)

    def _link(self, event: Json) -> Iterator[tuple[str, str]]:
        claimed = event.get("prev_event_hash" if self._old else "prev_hash")
        if claimed == self._prev:
            return
        if self.events == 0:
            yield "genesis_invalid", f"is the first, and follows {str(claimed)[:70]!r}"
        else:
            yield "chain_broken", f"follows {str(claimed)[:70]!r}, expected {str(self._prev)[:70]!r}"

    def _order(self, event: Json) -> Iterable[tuple[str, str]]:
        found: list[tuple[str, str]] = []
        kind, number = event.get("event_type"), self.number(event)
        value = event.get("sequence_number" if self._old else "seq")
        if number is None and value is not None:
            found.append(("field_malformed", f"has the number {str(value)[:40]!r}"))
        if number is not None:
            if number != self._next:
                found.append(("sequence_gap", f"has number {number}, expected {self._next}"))
            self._next = number + 1
        if self._sealed or (self._ended and kind != "CHAIN_SEAL"):
            found.append(("event_after_end", f"({str(kind)[:40]}) comes after the end"))
        if kind == "SESSION_START":
            if self._started or self.events:
                found.append(("start_misplaced", "is a SESSION_START that is not the first event"))
            self._started = True
        self._ended = self._ended or kind == "SESSION_END"
        return found

    def _contents(self, event: Json, payload: Json, here: str) -> Iterator[Found]:
        kind = event.get("event_type")
        if kind == "CHAIN_SEAL":
            missing = [f"`{name}`" for name in _OF_A_SERVER if name not in payload]
            demanded = self._old and event.get("schema_ver") != "v0.5"
            if demanded and missing and event.get("chain_authority") == "server":
                yield Found(
                    "agentops_seal_invalid", f"{here} is a server's seal without {', '.join(missing)}"
                )
            beside = {name: event[name] for name in _HMACS if name in event}
            yield from self.sealed_by({**payload, **beside}, self.events)
        if kind == "LOG_DROP":
            names = ("dropped_count", "dropped_events", "count")
            count = next((payload[name] for name in names if name in payload), None)
            self.drops += 1
            yield Found("agentops_drop", f"{here} says that {str(count)[:30]} events are missing")
            if not isinstance(count, int) or isinstance(count, bool) or count < 1:
                yield Found("agentops_drop_malformed", f"{here} counts {str(count)[:30]!r} missing events")
        if isinstance(kind, str) and kind in _DECLARED:
            yield Found("agentops_told", f"{here} is a {kind}", note=True)
        hidden, bare = redactions(payload)
        if bare:
            text = f"{here} has `{REDACTED}` without a hash at {', '.join(bare[:5])}"
            yield Found("agentops_redaction_without_hash", text)
        if hidden:
            yield Found("agentops_redaction", f"{here} has {hidden} redacted values", note=True)


def _parsed(text: str) -> Any:
    try:
        return parsed(text.encode("utf-8", "surrogatepass"))
    except ValueError:
        return None
