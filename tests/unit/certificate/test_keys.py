"""Keys of certificates."""

from __future__ import annotations

from pathlib import Path

import pytest
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ec, ed25519, rsa
from tests.unit.certificate.conftest import SIGNER

from faultwire.certificate.keys import ProjectSigner, given_verifier, pem_signer
from faultwire.errors import UsageError

PEM = serialization.Encoding.PEM
COSIGN = Path(__file__).parents[2] / "vectors" / "cosign"
KINDS = {
    "ed25519": ed25519.Ed25519PrivateKey.generate,
    "p256": lambda: ec.generate_private_key(ec.SECP256R1()),
}


def private_pem(key: object, password: bytes | None = None) -> bytes:
    secret = serialization.BestAvailableEncryption(password) if password else serialization.NoEncryption()
    return key.private_bytes(PEM, serialization.PrivateFormat.PKCS8, secret)  # type: ignore[attr-defined, no-any-return]


def public_pem(key: object) -> bytes:
    form = serialization.PublicFormat.SubjectPublicKeyInfo
    return key.public_key().public_bytes(PEM, form)  # type: ignore[attr-defined, no-any-return]


@pytest.mark.parametrize("kind", KINDS)
def test_a_pem_key_signs_and_its_public_half_verifies(tmp_path: Path, kind: str) -> None:
    key = KINDS[kind]()
    (tmp_path / "k.pem").write_bytes(private_pem(key))
    (tmp_path / "k.pub").write_bytes(public_pem(key))
    signer, verifier = pem_signer(tmp_path / "k.pem"), given_verifier(str(tmp_path / "k.pub"))
    assert signer.verifier.keyid == verifier.keyid
    signature = signer.sign(b"text")
    assert verifier.verifies(b"text", signature)
    assert not verifier.verifies(b"texT", signature)
    assert not verifier.verifies(b"text", signature[:-1] + bytes([signature[-1] ^ 1]))
    assert not verifier.verifies(b"text", b"")
    assert str(key) not in repr(signer) or "object at" in repr(signer)


def test_the_project_s_key_signs_and_its_verifier_key_verifies(tmp_path: Path) -> None:
    signer = ProjectSigner(SIGNER)
    (tmp_path / "seal.pub").write_text(f"{SIGNER.verifier}\n")
    for given in (str(SIGNER.verifier), str(tmp_path / "seal.pub")):
        verifier = given_verifier(given)
        assert verifier.keyid == signer.verifier.keyid == "shop+" + SIGNER.verifier.id.hex()
        assert verifier.verifies(b"text", signer.sign(b"text"))
        assert not verifier.verifies(b"other", signer.sign(b"text"))


def test_a_seal_is_no_signature_of_a_certificate() -> None:
    note = SIGNER.sign("shop/t.tape\n1\nroot\n")
    assert note.startswith("shop/t.tape\n")
    assert not ProjectSigner(SIGNER).verifier.verifies(b"DSSEv1 1 a 1 b", SIGNER.verifier.public * 2)


def test_a_password_opens_a_key_and_its_lack_is_named(tmp_path: Path) -> None:
    path = tmp_path / "k.pem"
    path.write_bytes(private_pem(KINDS["p256"](), b"open"))
    assert pem_signer(path, "open").sign(b"a")
    with pytest.raises(UsageError, match="has a password, expected it in `FAULTWIRE_CERTIFICATE_PASSWORD`"):
        pem_signer(path)
    with pytest.raises(UsageError, match="no private key that opens"):
        pem_signer(path, "shut")
    path.write_bytes(private_pem(KINDS["p256"]()))
    with pytest.raises(UsageError, match="has no password"):
        pem_signer(path, "open")


def test_other_keys_are_refused_and_nothing_of_them_is_quoted(tmp_path: Path) -> None:
    path = tmp_path / "k.pem"
    path.write_bytes(private_pem(rsa.generate_private_key(65537, 2048)))
    with pytest.raises(UsageError, match="no key of Ed25519 or P-256"):
        pem_signer(path)
    path.write_bytes(private_pem(ec.generate_private_key(ec.SECP384R1())))
    with pytest.raises(UsageError, match="no key of Ed25519 or P-256"):
        pem_signer(path)
    path.write_bytes(public_pem(ec.generate_private_key(ec.SECP384R1())))
    with pytest.raises(UsageError, match="no key of Ed25519 or P-256"):
        given_verifier(str(path))
    path.write_bytes(b"-----BEGIN ENCRYPTED SIGSTORE PRIVATE KEY-----\nc2VjcmV0\n")
    with pytest.raises(UsageError, match="is no key of cosign") as caught:
        pem_signer(path, "open")
    assert "c2VjcmV0" not in caught.value.render()
    with pytest.raises(UsageError, match="no public key in PEM") as caught:
        given_verifier(str(path))
    assert "c2VjcmV0" not in caught.value.render()
    with pytest.raises(UsageError, match="cannot read key"):
        pem_signer(tmp_path)


@pytest.mark.parametrize("kind", ["p256", "ed25519"])
def test_a_key_as_cosign_writes_it_signs_and_its_public_half_verifies(tmp_path: Path, kind: str) -> None:
    sealed, public = COSIGN / f"{kind}.key", given_verifier(str(COSIGN / f"{kind}.pub"))
    signer = pem_signer(sealed, "open sesame")
    assert signer.verifier.keyid == public.keyid
    assert public.verifies(b"text", signer.sign(b"text"))
    assert not public.verifies(b"texT", signer.sign(b"text"))
    with pytest.raises(UsageError, match="does not open with the password in") as caught:
        pem_signer(sealed, "open simsim")
    assert "simsim" not in caught.value.render()
    with pytest.raises(UsageError, match="has a password, expected it in `FAULTWIRE_CERTIFICATE_PASSWORD`"):
        pem_signer(sealed)
