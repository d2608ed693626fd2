"""Results on their way: only the coordinator of a campaign can read them.

What an agent said may hold a secret, and checks have to see it as it was said. So a worker encrypts it for
the coordinator (X25519, HKDF-SHA256, ChaCha20-Poly1305, a fresh key for each box), and it lies encrypted
wherever an engine keeps it, and in the campaign's folder. The private key goes when the campaign ends.
"""

from __future__ import annotations

import os
from pathlib import Path

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey, X25519PublicKey
from cryptography.hazmat.primitives.ciphers.aead import ChaCha20Poly1305
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

from faultwire.errors import FaultwireError

SIZE = 32
NONCE = bytes(12)
"""Each key encrypts one box."""


def seal(data: bytes, public: bytes) -> bytes:
    """The data for the holder of a key. Raises FaultwireError where it is no key."""
    try:
        theirs = X25519PublicKey.from_public_bytes(public)
    except ValueError as error:
        raise FaultwireError("found no public key of 32 bytes", code="campaign.key") from error
    own = X25519PrivateKey.generate()
    sent = own.public_key().public_bytes_raw()
    return sent + ChaCha20Poly1305(_key(own, theirs, sent, public)).encrypt(NONCE, data, sent)


class BoxKey:
    """The coordinator's private key, in a file for its owner alone."""

    def __init__(self, path: Path) -> None:
        """Read the key, or make one where there is no file. Raises FaultwireError."""
        self.path = path
        try:
            handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
            with os.fdopen(handle, "wb") as file:
                file.write(X25519PrivateKey.generate().private_bytes_raw())
        except FileExistsError:
            pass
        except OSError as error:
            raise FaultwireError(f"cannot write `{path}`: {error.strerror}", code="campaign.key") from error
        try:
            self._key = X25519PrivateKey.from_private_bytes(path.read_bytes())
        except (OSError, ValueError) as error:
            raise FaultwireError(f"found no key in `{path}`: {error}", code="campaign.key") from error

    @property
    def public(self) -> bytes:
        """The public half, 32 bytes."""
        return self._key.public_key().public_bytes_raw()

    def open(self, box: bytes) -> bytes:
        """What was sealed for this key. Raises FaultwireError for anything else."""
        sent, sealed = box[:SIZE], box[SIZE:]
        try:
            theirs = X25519PublicKey.from_public_bytes(sent)
            key = _key(self._key, theirs, sent, self.public)
            return ChaCha20Poly1305(key).decrypt(NONCE, sealed, sent)
        except (ValueError, InvalidTag) as error:
            raise FaultwireError(
                "found a result that was not made for this campaign, or was changed", code="campaign.box"
            ) from error


def _key(own: X25519PrivateKey, theirs: X25519PublicKey, sent: bytes, receiver: bytes) -> bytes:
    about = b"faultwire campaign v1" + sent + receiver
    return HKDF(SHA256(), SIZE, salt=None, info=about).derive(own.exchange(theirs))
