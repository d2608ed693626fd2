"""Signatures and Merkle roots of AgentOps Replay, as a branch of it writes them (`cryptographic-additions`).

The first event's payload holds an Ed25519 key (`sdk_public_key`), each event a signature over the text of its
hash, and the payload of SESSION_END the RFC 6962 root over the hashes of all other events. The key comes with
the log: signatures by it show that the log was not changed by others, and not who made it.
"""

from __future__ import annotations

import base64
from typing import TYPE_CHECKING, Any

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

from faultwire._core import Frontier
from faultwire.tape.format.hash_chain import leaf
from faultwire.tape.import_._api import Found
from faultwire.text import counted

if TYPE_CHECKING:
    from collections.abc import Iterator

Json = dict[str, Any]


class Signatures:
    """Those of one session, in the order of the file."""

    def __init__(self) -> None:
        self._key: Ed25519PublicKey | None = None
        self._signs = False
        self._unchecked = 0
        self._tree = Frontier()
        self._root: Any = None
        self._leaves: Any = None

    def take(self, event: Json, payload: Any, here: str) -> Iterator[Found]:
        """What is wrong with the signature of the next event."""
        kind = event.get("event_type")
        contents = payload if isinstance(payload, dict) else {}
        if kind == "SESSION_START" and not self._signs and contents.get("sdk_public_key"):
            self._signs = True
            self._key = _key(contents["sdk_public_key"])
            if self._key is None:
                yield Found("agentops_signature_invalid", f"{here} holds a key that is no Ed25519 key")
        if kind == "SESSION_END":
            self._root, self._leaves = contents.get("merkle_root"), contents.get("merkle_leaf_count")
        elif isinstance(event.get("event_hash"), str):
            self._push(event["event_hash"])
        yield from self._signature(event, here)

    def close(self, here: str) -> Iterator[Found]:
        """What the whole session contradicts, and what its signatures cannot prove."""
        if self._root is not None and self._root != self._tree.root().hex():
            yield Found("agentops_merkle_mismatch", f"{here} has another Merkle root than its events")
        if self._leaves not in (None, self._tree.size):
            text = (
                f"{here} counts {str(self._leaves)[:30]} leaves of its Merkle tree, found {self._tree.size}"
            )
            yield Found("agentops_merkle_mismatch", text)
        if self._signs:
            text = f"{here} is signed with the key in its first event: whoever made it may have made the key"
            yield Found("agentops_key_untrusted", text, note=True)
        if self._unchecked:
            text = f"{here} has {counted(self._unchecked, 'signature')} and no key to check them with"
            yield Found("agentops_signature_unchecked", text, note=True)

    def _signature(self, event: Json, here: str) -> Iterator[Found]:
        signature = event.get("signature")
        if not self._signs:
            self._unchecked += signature is not None
        elif signature is None:
            yield Found("agentops_signature_missing", f"{here} has no signature, in a session that is signed")
        elif self._key is not None and not _signed(self._key, event.get("event_hash"), signature):
            yield Found("agentops_signature_invalid", f"{here} has a signature that is not its key's")

    def _push(self, digest: str) -> None:
        try:
            self._tree.push(leaf(bytes.fromhex(digest)))
        except ValueError:
            return  # a hash that is none has its own finding


def _key(text: Any) -> Ed25519PublicKey | None:
    try:
        return Ed25519PublicKey.from_public_bytes(base64.b64decode(text, validate=True))
    except (TypeError, ValueError):
        return None


def _signed(key: Ed25519PublicKey, digest: Any, signature: Any) -> bool:
    try:
        key.verify(base64.b64decode(signature, validate=True), str(digest).encode())
    except (InvalidSignature, TypeError, ValueError):
        return False
    return True
