"""A log that signs checkpoints, and can be made to fork."""

from __future__ import annotations

import base64
from hashlib import sha256

from faultwire import _core
from faultwire.certificate.cosignature import EMPTY
from faultwire.tape.evidence.signed_note import SignerKey

LOG = SignerKey("logs.example/shop", b"\x07" * 32)
OTHER = SignerKey("logs.example/shop", b"\x08" * 32)


def leaves(size: int, fork: str = "") -> list[bytes]:
    """Leaf hashes; those of a fork differ from the fourth on."""
    return [sha256(f"{at}{fork if at > 2 else ''}".encode()).digest() for at in range(size)]


def text(size: int, fork: str = "", *, origin: str = LOG.name) -> str:
    """The lines of a checkpoint."""
    root = _core.merkle_root(leaves(size, fork)) if size else EMPTY.root
    return f"{origin}\n{size}\n{base64.b64encode(root).decode()}\n"


def request(old: int, size: int, fork: str = "", *, signer: SignerKey = LOG, origin: str = LOG.name) -> str:
    """A request with a proof that holds."""
    proof = _core.consistency_proof(leaves(size, fork), old) if 0 < old < size else []
    lines = "".join(f"{base64.b64encode(one).decode()}\n" for one in proof)
    return f"old {old}\n{lines}\n{signer.sign(text(size, fork, origin=origin))}"
