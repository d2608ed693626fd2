"""The envelope of a certificate: DSSE v1 (github.com/secure-systems-lab/dsse).

What is signed is the payload's exact bytes with its type and both lengths before it, so that nothing is
parsed before a signature holds, and a signature over one type is none over another.
"""

from __future__ import annotations

import base64
import binascii
import json
from dataclasses import dataclass

from faultwire.errors import UsageError

PAYLOAD_TYPE = "application/vnd.in-toto+json"
LARGEST = 16 * 1024 * 1024
"""Bytes of an envelope that are read."""
MOST_SIGNATURES = 16
PROOF = "tlogProof"
"""The member that is ours, where a statement is in a log."""
_KEYS = {"payload", "payloadType", "signatures"}


class EnvelopeError(UsageError):
    """A file is no envelope, or not one of a certificate."""

    exit_code = 3
    default_code = "certificate.unreadable"


@dataclass(frozen=True, slots=True)
class Signature:
    """`keyid` says which key was used: a hint that nobody signed."""

    keyid: str
    sig: bytes


@dataclass(frozen=True, slots=True)
class Envelope:
    """A payload with its type and signatures, none of which is verified."""

    payload: bytes
    signatures: tuple[Signature, ...]
    payload_type: str = PAYLOAD_TYPE
    proof: str | None = None
    """That the statement is in a log (C2SP tlog-proof). No signature of the envelope is over it: it is made
    after them. Readers of DSSE pass over a member that they do not know."""

    @property
    def signed_bytes(self) -> bytes:
        """What the signatures are over: DSSE's pre-authentication encoding."""
        kind = self.payload_type.encode()
        return b"DSSEv1 %d %s %d %s" % (len(kind), kind, len(self.payload), self.payload)

    def dump(self) -> bytes:
        """The envelope as a line of JSON."""
        made: dict[str, object] = {
            "payload": base64.b64encode(self.payload).decode(),
            "payloadType": self.payload_type,
            "signatures": [
                {"keyid": one.keyid, "sig": base64.b64encode(one.sig).decode()} for one in self.signatures
            ],
        }
        if self.proof is not None:
            made[PROOF] = self.proof
        return json.dumps(made).encode() + b"\n"


def parse(data: bytes) -> Envelope:
    """The envelope in a file. Raises EnvelopeError, which says what was found."""
    try:
        found = json.loads(data)
    except (ValueError, RecursionError) as error:
        raise EnvelopeError("found no JSON, expected a certificate") from error
    if not isinstance(found, dict) or set(found) - {PROOF} != _KEYS:
        raise EnvelopeError(f"expected an object with {', '.join(sorted(_KEYS))}, and at most `{PROOF}`")
    if found["payloadType"] != PAYLOAD_TYPE:
        raise EnvelopeError(
            f"found the payload type `{str(found['payloadType'])[:80]}`, expected `{PAYLOAD_TYPE}`"
        )
    signatures = found["signatures"]
    if not isinstance(signatures, list) or not 0 < len(signatures) <= MOST_SIGNATURES:
        raise EnvelopeError(f"expected 1 to {MOST_SIGNATURES} signatures")
    if not isinstance(found.get(PROOF, ""), str):
        raise EnvelopeError(f"expected a text for `{PROOF}`")
    payload, proof = _bytes(found["payload"], "payload"), found.get(PROOF)
    return Envelope(payload, tuple(map(_signature, signatures)), proof=proof)


def _signature(found: object) -> Signature:
    if not isinstance(found, dict) or set(found) != {"keyid", "sig"} or not isinstance(found["keyid"], str):
        raise EnvelopeError("expected signatures with exactly `keyid` and `sig`")
    return Signature(found["keyid"], _bytes(found["sig"], "sig"))


def _bytes(text: object, where: str) -> bytes:
    """Of Base64 in its one canonical form: two texts for one payload would be two certificates."""
    try:
        data = base64.b64decode(text, validate=True) if isinstance(text, str) else None
    except (binascii.Error, ValueError):
        data = None
    if data is None or base64.b64encode(data).decode() != text:
        raise EnvelopeError(f"`{where}` is not canonical Base64")
    return data
