"""Signed notes: a few lines of text and Ed25519 signatures below them.

Format: C2SP signed-note (c2sp.org/signed-note), as Go's checksum database and transparency logs use
it. The text ends in a newline, an empty line follows, then one line for each signature:
`— NAME BASE64(key id ‖ signature)`. A verifier key is `NAME+ID+BASE64(0x01 ‖ public key)`, a signer
key the same with `PRIVATE+KEY+` before it and the 32-byte seed in place of the public key.
"""

from __future__ import annotations

import base64
import re
from dataclasses import dataclass
from hashlib import sha256

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey

from faultwire import _core
from faultwire.errors import UsageError

ED25519 = b"\x01"
"""The signature type that stands before the key bytes."""
COSIGNATURE = b"\x04"
"""The signature type of a witness's key, whose cosignatures bear their time (C2SP tlog-cosignature)."""

MAX_SIZE = 64 * 1024
"""No note of ours is longer; a longer one is refused unread."""

MAX_SIGNATURES = 16

_SMALL_ORDER = frozenset(
    bytes.fromhex(start + middle * 30 + end)
    for start, middle, end in (("01", "00", "00"), ("ec", "ff", "7f"), ("00", "00", "00"), ("00", "00", "80"))
) | frozenset(
    bytes.fromhex(point + sign)
    for point, signs in (
        ("26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc", ("05", "85")),
        ("c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac03", ("7a", "fa")),
    )
    for sign in signs
)
"""The eight points whose order divides 8 (RFC 8032 §5.1): under these one signature holds for many texts, and
anybody can make it. Each has one text; others for the same point are none."""

_PRIVATE = "PRIVATE+KEY+"
_NAME = re.compile(r"[^\s+\x00-\x1f\x7f]{1,120}\Z")
_SIGNATURE = re.compile(r"— ([^\s+]+) ([A-Za-z0-9+/]+={0,2})\Z")


class NoteError(ValueError):
    """A note or a key that does not have the form that it must have."""


@dataclass(frozen=True, slots=True)
class VerifierKey:
    """A public key with its name."""

    name: str
    public: bytes

    @property
    def id(self) -> bytes:
        """Four bytes that tell keys apart; a hint, never a proof."""
        return sha256(self.name.encode() + b"\n" + ED25519 + self.public).digest()[:4]

    def __str__(self) -> str:
        return f"{self.name}+{self.id.hex()}+{base64.b64encode(ED25519 + self.public).decode()}"

    def verifies(self, text: bytes, signature: bytes) -> bool:
        """Did the holder of this key sign this text?"""
        try:
            Ed25519PublicKey.from_public_bytes(self.public).verify(signature, text)
        except (InvalidSignature, ValueError):
            return False
        return True

    @classmethod
    def parse(cls, text: str) -> VerifierKey:
        """From its one-line form. Raises NoteError."""
        name, data = key_parts(text)
        key = cls(name, data)
        if text.split("+")[1] != key.id.hex():
            raise NoteError("the key id does not fit the key")
        check_point(data)
        return key


@dataclass(frozen=True, slots=True)
class SignerKey:
    """A private key with its name. Its `repr` shows nothing of the seed."""

    name: str
    seed: bytes

    def __repr__(self) -> str:
        return f"SignerKey({self.name!r})"

    @property
    def verifier(self) -> VerifierKey:
        """The public half."""
        return VerifierKey(self.name, self._private().public_key().public_bytes_raw())

    def sign(self, text: str) -> str:
        """A signed note. `text` must end in a newline."""
        check_text(text)
        signed = self.verifier.id + self._private().sign(text.encode())
        return f"{text}\n— {self.name} {base64.b64encode(signed).decode()}\n"

    def dump(self) -> str:
        """The one-line form, which is the secret itself."""
        return (
            f"{_PRIVATE}{self.name}+{self.verifier.id.hex()}+{base64.b64encode(ED25519 + self.seed).decode()}"
        )

    def _private(self) -> Ed25519PrivateKey:
        return Ed25519PrivateKey.from_private_bytes(self.seed)

    @classmethod
    def parse(cls, text: str) -> SignerKey:
        """From its one-line form. Raises NoteError, which never quotes the key."""
        if not text.startswith(_PRIVATE):
            raise NoteError(f"a signer key begins with `{_PRIVATE}`")
        rest = text.removeprefix(_PRIVATE)
        name, data = key_parts(rest)
        key = cls(name, data)
        if rest.split("+")[1] != key.verifier.id.hex():
            raise NoteError("the key id does not fit the key")
        return key

    @classmethod
    def fresh(cls, name: str) -> SignerKey:
        """A new key. Raises UsageError for a name that no key can have."""
        if not _NAME.match(name) or not _is_text(name):
            raise UsageError(
                f"key name {name!r} is not allowed, expected 1 to 120 characters without spaces or `+`",
                code="keys.name",
            )
        return cls(name, Ed25519PrivateKey.generate().private_bytes_raw())


@dataclass(frozen=True, slots=True)
class Note:
    """A parsed note. Only `text` is signed, so only `text` may be read for meaning."""

    text: str
    signatures: tuple[tuple[str, bytes, bytes], ...]
    """(key name, key id, signature) of each line. Only the key knows how long its signatures are: those of
    other kinds, such as cosignatures, stand beside ours."""

    @property
    def signers(self) -> list[str]:
        """`NAME+ID` of each key that the signatures name; none of them is verified."""
        return [f"{name}+{key_id.hex()}" for name, key_id, _ in self.signatures]

    def signed_by(self, key: VerifierKey) -> bool:
        """Did this key sign, and does each signature with its name and id hold? All others are ignored."""
        signed = [one for name, key_id, one in self.signatures if (name, key_id) == (key.name, key.id)]
        return bool(signed) and all(key.verifies(self.text.encode(), one) for one in signed)


def check_point(public: bytes) -> None:
    """Raise NoteError unless these 32 bytes are a key of Ed25519 that tells signatures apart."""
    if public in _SMALL_ORDER:
        raise NoteError("everybody can sign under this key: its point has a small order")
    if not _core.is_verifier_key(str(VerifierKey("k", public))):
        raise NoteError("no key of Ed25519 has these bytes")


def check_text(text: str) -> None:
    """Raise NoteError unless a note can hold this text."""
    if not text.endswith("\n") or "\n\n" in text or any(c < " " and c != "\n" for c in text):
        raise NoteError("a note's text ends in a newline and has no empty line and no control character")


def parse(note: str) -> Note:
    """A note in its parts; nothing is verified yet. Raises NoteError."""
    if len(note) > MAX_SIZE:
        raise NoteError(f"the note has {len(note)} characters, expected at most {MAX_SIZE}")
    text, between, below = note.rpartition("\n\n")
    if not between or not below.endswith("\n"):
        raise NoteError("a note has an empty line between its text and its signatures")
    text += "\n"
    check_text(text)
    lines = below[:-1].split("\n")
    if len(lines) > MAX_SIGNATURES:
        raise NoteError(f"the note has {len(lines)} signatures, expected at most {MAX_SIGNATURES}")
    return Note(text, tuple(_signature(line) for line in lines))


def _signature(line: str) -> tuple[str, bytes, bytes]:
    found = _SIGNATURE.match(line)
    if found is None:
        raise NoteError("a signature is `— NAME BASE64` on a line of its own")
    data = decoded(found[2])
    if len(data) < 4 + 1:
        raise NoteError(f"the signature has {len(data)} bytes, expected an id of 4 and more")
    return found[1], data[:4], data[4:]


def key_parts(text: str, kind: bytes = ED25519) -> tuple[str, bytes]:
    """Name and public (or secret) bytes of a key in its one-line form. Raises NoteError."""
    parts = text.strip().split("+", 2)
    if len(parts) != 3 or not _NAME.match(parts[0]) or not _is_text(parts[0]):
        raise NoteError("a key is `NAME+ID+BASE64`")
    data = decoded(parts[2])
    if len(data) != 33 or data[:1] != kind:
        raise NoteError(_other_kind(data[:1], kind))
    return parts[0], data[1:]


def _other_kind(found: bytes, expected: bytes) -> str:
    if {found, expected} == {ED25519, COSIGNATURE}:
        names = {ED25519: "a key that signs notes", COSIGNATURE: "a witness's key"}
        return f"it is {names[found]}, expected {names[expected]}"
    return "the key is no Ed25519 key"


def _is_text(name: str) -> bool:
    """Has it a form in UTF-8? What a shell passes on need not have one."""
    try:
        name.encode()
    except UnicodeEncodeError:
        return False
    return True


def decoded(text: str) -> bytes:
    """Strictly: one text for each value, so that no note has two spellings."""
    try:
        data = base64.b64decode(text, validate=True)
    except ValueError as error:  # binascii.Error, or what is not ASCII
        raise NoteError("that is not base64") from error
    if base64.b64encode(data).decode() != text:
        raise NoteError("that is not canonical base64")
    return data
