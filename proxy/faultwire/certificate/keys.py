"""Keys of certificates: the project's own, or a PEM file that cosign and other tools can use as well.

PEM: Ed25519, or ECDSA on P-256 over SHA-256 (what cosign makes). A private key is PKCS #8, or in the form of
`cosign generate-key-pair`; one with a password is opened with `FAULTWIRE_CERTIFICATE_PASSWORD`.
"""

from __future__ import annotations

from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from cryptography.exceptions import InvalidSignature, UnsupportedAlgorithm
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec, ed25519

from faultwire.certificate import cosign_key
from faultwire.certificate.cosignature import WitnessKey
from faultwire.errors import UsageError
from faultwire.tape.evidence.keyring import given_key, given_line
from faultwire.tape.evidence.signed_note import NoteError
from faultwire.tape.format.small_file import small_file

if TYPE_CHECKING:
    from faultwire.tape.evidence.signed_note import SignerKey, VerifierKey

PASSWORD = "FAULTWIRE_CERTIFICATE_PASSWORD"  # the name of a variable
LARGEST = 64 * 1024
Private = ed25519.Ed25519PrivateKey | ec.EllipticCurvePrivateKey
Public = ed25519.Ed25519PublicKey | ec.EllipticCurvePublicKey


class Signer(Protocol):
    """Signs certificates."""

    @property
    def verifier(self) -> Verifier:
        """The public half."""

    def sign(self, data: bytes) -> bytes:
        """A signature over the bytes."""


class Verifier(Protocol):
    """Judges signatures."""

    @property
    def keyid(self) -> str:
        """What envelopes call this key."""

    def verifies(self, data: bytes, signature: bytes) -> bool:
        """Did the holder of this key sign these bytes?"""


@dataclass(frozen=True, slots=True)
class ProjectVerifier:
    """The public half of a project's key."""

    key: VerifierKey

    @property
    def keyid(self) -> str:
        """Its name and the hint that tells keys of one name apart."""
        return f"{self.key.name}+{self.key.id.hex()}"

    def verifies(self, data: bytes, signature: bytes) -> bool:
        """Did its holder sign these bytes?"""
        return self.key.verifies(data, signature)


@dataclass(frozen=True, slots=True)
class ProjectSigner:
    """The key that seals a project's tapes. A seal's text begins with a tape's origin and ends its first line
    there; what a certificate signs begins with `DSSEv1` and lengths, so neither passes for the other."""

    key: SignerKey

    @property
    def verifier(self) -> ProjectVerifier:
        """The public half."""
        return ProjectVerifier(self.key.verifier)

    def sign(self, data: bytes) -> bytes:
        """A signature of Ed25519."""
        return ed25519.Ed25519PrivateKey.from_private_bytes(self.key.seed).sign(data)


@dataclass(frozen=True, slots=True)
class PemVerifier:
    """A public key from a PEM file; `keyid` is the SHA-256 of its SubjectPublicKeyInfo."""

    key: Public

    @property
    def keyid(self) -> str:
        """The digest of the public key."""
        encoding, form = serialization.Encoding.DER, serialization.PublicFormat.SubjectPublicKeyInfo
        return f"sha256:{sha256(self.key.public_bytes(encoding, form)).hexdigest()}"

    def verifies(self, data: bytes, signature: bytes) -> bool:
        """Did its holder sign these bytes?"""
        try:
            if isinstance(self.key, ed25519.Ed25519PublicKey):
                self.key.verify(signature, data)
            else:
                self.key.verify(signature, data, ec.ECDSA(hashes.SHA256()))
        except InvalidSignature:
            return False
        return True


@dataclass(frozen=True, slots=True)
class PemSigner:
    """A private key from a PEM file. Its `repr` shows nothing of it."""

    key: Private

    @property
    def verifier(self) -> PemVerifier:
        """The public half."""
        return PemVerifier(self.key.public_key())

    def sign(self, data: bytes) -> bytes:
        """A signature of its kind; ECDSA's is DER."""
        if isinstance(self.key, ed25519.Ed25519PrivateKey):
            return self.key.sign(data)
        return self.key.sign(data, ec.ECDSA(hashes.SHA256()))


def pem_signer(path: Path, password: str | None = None) -> PemSigner:
    """The private key in a file. Raises UsageError, which quotes nothing of it."""
    data = _read(path)
    try:
        if cosign_key.is_sealed(data):
            key = serialization.load_der_private_key(_unsealed(path, data, password), None)
        else:
            key = serialization.load_pem_private_key(data, password.encode() if password else None)
    except TypeError as error:
        need = f"has a password, expected it in `{PASSWORD}`" if not password else "has no password"
        raise UsageError(f"`{path}` {need}", code="certificate.key") from error
    except (ValueError, UnsupportedAlgorithm) as error:
        raise UsageError(f"`{path}` holds no private key that opens", code="certificate.key") from error
    if isinstance(key, ed25519.Ed25519PrivateKey) or (
        isinstance(key, ec.EllipticCurvePrivateKey) and isinstance(key.curve, ec.SECP256R1)
    ):
        return PemSigner(key)
    raise UsageError(f"`{path}` is no key of Ed25519 or P-256", code="certificate.key")


def _unsealed(path: Path, data: bytes, password: str | None) -> bytes:
    if password is None:
        raise UsageError(f"`{path}` has a password, expected it in `{PASSWORD}`", code="certificate.key")
    try:
        return cosign_key.opened(data, password)
    except cosign_key.WrongPasswordError as error:
        raise UsageError(
            f"`{path}` does not open with the password in `{PASSWORD}`", code="certificate.key"
        ) from error
    except cosign_key.KeyFormError as error:
        raise UsageError(f"`{path}` is no key of cosign: {error}", code="certificate.key") from error


def given_verifier(text: str) -> Verifier:
    """A key that a user named: a project's verifier key, a file that holds one, or a PEM file.
    Raises UsageError."""
    path = Path(text)
    data = _read(path) if path.is_file() else b""
    if b"-----BEGIN" not in data:
        return ProjectVerifier(given_key(text))
    try:
        key = serialization.load_pem_public_key(data)
    except (ValueError, UnsupportedAlgorithm) as error:
        raise UsageError(
            f"`{path}` holds no public key in PEM", code="certificate.key", hint="give the public half"
        ) from error
    if isinstance(key, ed25519.Ed25519PublicKey) or (
        isinstance(key, ec.EllipticCurvePublicKey) and isinstance(key.curve, ec.SECP256R1)
    ):
        return PemVerifier(key)
    raise UsageError(f"`{path}` is no key of Ed25519 or P-256", code="certificate.key")


def given_witness(text: str) -> WitnessKey:
    """A witness's key that a user named: the key itself, or a file that holds it. Raises UsageError."""
    line, where = given_line(text)
    try:
        return WitnessKey.parse(line)
    except NoteError as error:
        raise UsageError(
            f"{where} is no key of a witness: {error}",
            code="witness.key",
            hint="it is what `faultwire witness` prints as it starts, `NAME+ID+BASE64`",
        ) from error


def _read(path: Path) -> bytes:
    try:
        return small_file(path, LARGEST, links=True)
    except OSError as error:
        raise UsageError(f"cannot read key `{path}`: {error.strerror}", code="certificate.key") from error
