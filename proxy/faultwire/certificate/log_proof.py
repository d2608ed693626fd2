"""A proof that a statement is in a log of certificates, and which witnesses saw that log. Pure.

Format: C2SP tlog-proof: a first line that names it, the index, the hashes that lead from the entry to the
root (RFC 9162 §2.1.3), an empty line, and the checkpoint with the signatures of the log and its witnesses.
An entry is the SHA-256 of what the certificate's signatures are over.
"""

from __future__ import annotations

import base64
from dataclasses import dataclass
from hashlib import sha256
from typing import TYPE_CHECKING

from faultwire import _core
from faultwire.certificate.cosignature import Seen, hash_of, size_of, tree_of
from faultwire.tape.evidence.inclusion_proof import HEAD
from faultwire.tape.evidence.signed_note import NoteError, VerifierKey, parse

if TYPE_CHECKING:
    from collections.abc import Sequence

    from faultwire.tape.evidence.signed_note import Note

LONGEST = 128 * 1024
"""Characters of a proof that are read."""


@dataclass(frozen=True, slots=True)
class Logged:
    """A statement is entry `index` of the log `origin`, as of the tree of its checkpoint `note`."""

    origin: str
    index: int
    tree: Seen
    note: Note


def entry_of(signed: bytes) -> bytes:
    """The entry of a certificate: the digest of the bytes that were signed."""
    return sha256(signed).digest()


def proof_text(leaves: Sequence[bytes], index: int, checkpoint: str) -> str:
    """The proof for a leaf of the tree that the signed checkpoint is of."""
    path = (base64.b64encode(one).decode() for one in _core.inclusion_proof(list(leaves), index))
    return "\n".join((HEAD, f"index {index}", *path)) + f"\n\n{checkpoint}"


def logged(text: str, signed: bytes, log: str) -> Logged:
    """What a proof proves of the bytes that a certificate's signatures are over. `log` is the verifier key of
    the log that the certificate names. Raises NoteError where it proves nothing."""
    if len(text) > LONGEST:
        raise NoteError(f"it has {len(text)} characters, expected at most {LONGEST}")
    head, between, below = text.partition("\n\n")
    first, *lines = head.split("\n")
    if not between or first != HEAD or not lines or not lines[0].startswith("index "):
        raise NoteError(f"it does not begin with `{HEAD}` and an index")
    index, path = size_of(lines[0].removeprefix("index ")), [hash_of(line) for line in lines[1:]]
    key, note = VerifierKey.parse(log), parse(below)
    origin, tree = tree_of(note.text)
    if origin != key.name:
        raise NoteError("its checkpoint is of another log than the certificate names")
    if not note.signed_by(key):
        raise NoteError("the log that the certificate names has not signed its checkpoint")
    leaf = _core.leaf_hash(entry_of(signed))
    if index >= tree.size or not _core.verify_inclusion(leaf, index, tree.size, path, tree.root):
        raise NoteError("its hashes do not lead from this certificate to the checkpoint's root")
    return Logged(origin, index, tree, note)
