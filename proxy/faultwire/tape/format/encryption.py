"""Bodies that are stored encrypted: AES-256-GCM under the key of a session, which is on no tape.

What is stored has the length of the body, and its digest is that of the encrypted bytes: chains, seals and
all verifiers hold without a key. The event that names the body has the rest as `encryption`: which key, the
nonce and the tag.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from faultwire.errors import TapeTampered
from faultwire.tape.format.blobs import ENCRYPTION

if TYPE_CHECKING:
    from faultwire.tape.format.events import Event

KEY, NONCE, TAG, ID = 32, 12, 16, 16
"""Bytes of a key, a nonce, a tag and a key's name."""
_ABOUT = b"faultwire body v1 "
_HEX = frozenset("0123456789abcdef")


@dataclass(frozen=True, slots=True)
class Encryption:
    """How one body is encrypted; all three are hexadecimal."""

    key: str
    nonce: str
    tag: str

    def member(self) -> Event:
        """The member of the event."""
        return {"key": self.key, "nonce": self.nonce, "tag": self.tag}


def encrypted(data: bytes, key_id: str, key: bytes, nonce: str) -> tuple[bytes, Encryption]:
    """What is stored of a body. A nonce must be used once with a key."""
    from cryptography.hazmat.primitives.ciphers.aead import AESGCM

    made = AESGCM(key).encrypt(bytes.fromhex(nonce), data, _ABOUT + key_id.encode())
    return made[:-TAG], Encryption(key_id, nonce, made[-TAG:].hex())


def decrypted(data: bytes, encryption: Encryption, key: bytes) -> bytes:
    """The body. Raises TapeTampered where the key is another, or anything of it was changed."""
    from cryptography.exceptions import InvalidTag
    from cryptography.hazmat.primitives.ciphers.aead import AESGCM

    about = _ABOUT + encryption.key.encode()
    try:
        sealed = data + bytes.fromhex(encryption.tag)
        return AESGCM(key).decrypt(bytes.fromhex(encryption.nonce), sealed, about)
    except InvalidTag as error:
        raise TapeTampered(
            f"an encrypted body does not fit its key `{encryption.key}`", code="tape.body_key"
        ) from error


def encryption_of(body: dict[str, Any]) -> Encryption | None:
    """How a body is encrypted, by its event; None where it is not. Raises ValueError, KeyError, TypeError."""
    if ENCRYPTION not in body:
        return None
    found = body[ENCRYPTION]
    made = Encryption(found["key"], found["nonce"], found["tag"])
    for value, size in ((made.key, ID), (made.nonce, NONCE), (made.tag, TAG)):
        if not isinstance(value, str) or len(value) != 2 * size or not _HEX.issuperset(value):
            raise ValueError(f"`{ENCRYPTION}` is not what a body has")
    return made


def name_of(body: dict[str, Any]) -> str:
    """By which name a reader asks for the body: its digest, and how it is encrypted. Raises as
    `encryption_of` does."""
    how = encryption_of(body)
    digest = body["blob"]
    if not isinstance(digest, str):
        raise TypeError(f"a blob is named by {type(digest).__name__}")
    return digest if how is None else f"{digest}:{how.key}:{how.nonce}:{how.tag}"


def parsed(name: str) -> tuple[str, Encryption]:
    """The digest and the rest of such a name, where the body is encrypted."""
    digest, key, nonce, tag = name.split(":")
    return digest, Encryption(key, nonce, tag)
