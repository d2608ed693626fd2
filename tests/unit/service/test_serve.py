"""What a service is made of is checked before its database is opened."""

from __future__ import annotations

import subprocess
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from tests.unit.service.test_oidc import PROVIDER

from faultwire.errors import UsageError
from faultwire.ingestion.serve import Listen
from faultwire.service.serve import Service, serve
from faultwire.service.settings import Settings
from faultwire.tape.evidence.signed_note import SignerKey


def test_a_secret_that_cannot_be_read_ends_it_before_anything_is_made(tmp_path: Path) -> None:
    settings = Settings(oidc=PROVIDER.model_copy(update={"client_secret_file": tmp_path / "none"}))
    made = Service(
        store=f"sqlite:///{tmp_path}/team.db", settings=settings, listen=Listen("127.0.0.1", 0), objects=None,
        audit=tmp_path / "audit", origin="team", signer=SignerKey.fresh("team"), key=bytes(32),
    )  # fmt: skip
    with pytest.raises(UsageError, match="client_secret_file"):
        serve(made, lambda _: None)
    assert list(tmp_path.iterdir()) == []


def test_off_loopback_a_service_with_tokens_of_its_own_needs_tls_alone(tmp_path: Path) -> None:
    certificate, key = pair(tmp_path)
    assert Listen.parse("0.0.0.0:0", certificate, key, None, own_tokens=True).certificate == certificate
    with pytest.raises(UsageError, match="`--token-file`"):
        Listen.parse("0.0.0.0:0", certificate, key, None)
    with pytest.raises(UsageError, match="`--cert` and `--key`"):
        Listen.parse("0.0.0.0:0", None, None, None, own_tokens=True)


def pair(folder: Path) -> tuple[Path, Path]:
    """A certificate that signs itself, and its key."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "team.example")])
    now = datetime.now(UTC)
    made = x509.CertificateBuilder(name, name, key.public_key(), 1, now, now + timedelta(days=1))
    (folder / "c.pem").write_bytes(made.sign(key, SHA256()).public_bytes(Encoding.PEM))
    text = key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
    (folder / "k.pem").write_bytes(text)
    return folder / "c.pem", folder / "k.pem"


def test_a_service_without_a_provider_needs_no_package_for_one() -> None:
    code = "import sys; sys.modules['jwt'] = None; import faultwire.service.serve; print('there')"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.stdout == "there\n", done.stderr
