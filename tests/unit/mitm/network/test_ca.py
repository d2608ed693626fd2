"""The CA on disk, and its leaves."""

from __future__ import annotations

import os
import ssl
from datetime import timedelta
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import serialization
from cryptography.x509.oid import ExtendedKeyUsageOID

from faultwire import clock
from faultwire.errors import UsageError
from faultwire.mitm.network import ca, ca_certificates


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / ".faultwire" / "ca"


def test_it_is_made_once(folder: Path) -> None:
    assert ca.describe(folder) is None
    made = ca.ensure(folder)
    assert ca.ensure(folder) == made
    assert ca.describe(folder) == made
    assert not made.expired
    life = made.not_after - clock.utc_now()
    assert timedelta(days=13) < life <= timedelta(days=14)


def test_only_its_user_may_read_the_key(folder: Path) -> None:
    made = ca.ensure(folder)
    assert folder.stat().st_mode & 0o777 == 0o700
    assert (folder / "mitmproxy-ca.pem").stat().st_mode & 0o777 == 0o600
    assert b"PRIVATE" not in made.certificate.read_bytes()


@pytest.mark.parametrize(
    ("name", "mode", "expected"),
    [("mitmproxy-ca.pem", 0o640, "nothing for"), (".", 0o770, "no writing by")],
)
def test_a_key_that_others_may_reach_is_refused(folder: Path, name: str, mode: int, expected: str) -> None:
    ca.ensure(folder)
    (folder / name).chmod(mode)
    with pytest.raises(UsageError) as refused:
        ca.ensure(folder)
    assert refused.value.code == "ca.unsafe"
    assert f"has mode `{mode:04o}`, expected {expected} group and others" in str(refused.value)


def test_an_expired_one_is_refused_and_renewed(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    real = clock.utc_now
    for module in (ca, ca_certificates):
        monkeypatch.setattr(module, "utc_now", lambda: real() - timedelta(days=15))
    old = ca.ensure(folder)
    for module in (ca, ca_certificates):
        monkeypatch.setattr(module, "utc_now", real)
    assert old.expired
    with pytest.raises(UsageError) as refused:
        ca.ensure(folder)
    assert refused.value.code == "ca.expired"
    assert refused.value.exit_code == 2
    assert "faultwire ca renew" in (refused.value.hint or "")
    new = ca.renew(folder)
    assert not new.expired
    assert new.fingerprint != old.fingerprint
    assert ca.ensure(folder) == new


def test_removing(folder: Path) -> None:
    assert not ca.remove(folder)
    ca.ensure(folder)
    assert ca.remove(folder)
    assert ca.describe(folder) is None
    assert not ca.remove(folder)


@pytest.mark.parametrize("days", [0, 31])
def test_it_lives_no_longer_than_a_month(folder: Path, days: int) -> None:
    with pytest.raises(UsageError):
        ca.ensure(folder, days=days)
    assert ca.describe(folder) is None


def test_files_that_are_no_ca_are_refused(folder: Path) -> None:
    made = ca.ensure(folder)
    made.certificate.write_text("something else")
    with pytest.raises(UsageError) as refused:
        ca.ensure(folder)
    assert refused.value.code == "ca.damaged"
    ca.renew(folder)
    (folder / "mitmproxy-ca.pem").write_text("something else")
    with pytest.raises(UsageError) as refused:
        ca.load_signer(folder)
    assert refused.value.code == "ca.damaged"


def test_a_folder_that_cannot_be_made_is_refused(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(UsageError) as refused:
        ca.ensure(tmp_path / "file" / "ca")
    assert refused.value.code == "ca.unwritable"


def test_a_link_in_its_place_is_not_followed(folder: Path, tmp_path: Path) -> None:
    folder.mkdir(parents=True)
    target = tmp_path / "victim"
    target.write_text("untouched")
    os.symlink(target, folder / ".mitmproxy-ca.pem.new")
    ca.ensure(folder)
    assert target.read_text() == "untouched"


def test_a_leaf_is_what_strict_clients_want(folder: Path) -> None:
    ca.ensure(folder)
    signer, key = ca.load_signer(folder), ca.new_key()
    leaf = ca.issue(signer, key, "api.openai.com")
    assert leaf.not_valid_after_utc - leaf.not_valid_before_utc <= timedelta(hours=48)
    assert leaf.not_valid_before_utc <= clock.utc_now() - timedelta(hours=23)
    of = leaf.extensions.get_extension_for_class
    assert of(x509.SubjectAlternativeName).value.get_values_for_type(x509.DNSName) == ["api.openai.com"]
    assert ExtendedKeyUsageOID.SERVER_AUTH in of(x509.ExtendedKeyUsage).value
    issuer = signer.certificate.extensions.get_extension_for_class(x509.SubjectKeyIdentifier).value
    assert of(x509.AuthorityKeyIdentifier).value.key_identifier == issuer.digest
    assert of(x509.SubjectKeyIdentifier).value.digest != issuer.digest
    leaf.verify_directly_issued_by(signer.certificate)


@pytest.mark.parametrize(
    "host", ["127.0.0.1", "::1", "bücher.example", "a" * 60 + "." + "b" * 60 + ".example"]
)
def test_a_strict_handshake_accepts_it(folder: Path, tmp_path: Path, host: str) -> None:
    """Both ends in memory, with the strictness of Python 3.13."""
    made = ca.ensure(folder)
    key = ca.new_key()
    leaf = ca.issue(ca.load_signer(folder), key, host)
    chain = tmp_path / "leaf.pem"
    chain.write_bytes(
        key.private_bytes(
            serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
        )
        + leaf.public_bytes(serialization.Encoding.PEM)
    )
    serving = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    serving.load_cert_chain(chain)
    trusting = ssl.create_default_context(cafile=str(made.certificate))
    trusting.verify_flags |= ssl.VERIFY_X509_STRICT | ssl.VERIFY_X509_PARTIAL_CHAIN
    handshake(trusting, serving, host)
    with pytest.raises(ssl.SSLCertVerificationError):  # the control: another name
        handshake(trusting, serving, "elsewhere.example")


def handshake(client: ssl.SSLContext, server: ssl.SSLContext, host: str) -> None:
    up, down = ssl.MemoryBIO(), ssl.MemoryBIO()
    ends = [
        client.wrap_bio(down, up, server_hostname=host),
        server.wrap_bio(up, down, server_side=True),
    ]
    done: set[int] = set()
    for _ in range(10):
        for at, end in enumerate(ends):
            try:
                end.do_handshake()
                done.add(at)
            except ssl.SSLWantReadError:
                continue
        if len(done) == 2:
            return
    raise AssertionError("the handshake did not end")


@pytest.mark.parametrize("back", [timedelta(), timedelta(hours=3), timedelta(days=700)])
def test_one_for_a_clock_that_stands_still_is_valid_then_and_now(folder: Path, back: timedelta) -> None:
    now = clock.utc_now()
    made = ca.ensure(folder, covers=now - back)
    assert made.not_before <= now - back - ca_certificates.BACKDATE
    assert ca.ensure(folder, covers=now - back) == made
    leaf = ca.issue(ca.load_signer(folder), ca.new_key(), "api.openai.com")
    assert leaf.not_valid_before_utc <= now - back - ca_certificates.BACKDATE
    assert now < leaf.not_valid_after_utc <= now + timedelta(days=1, seconds=60)
    again = ca.ensure(folder, covers=now - back - timedelta(days=99))
    assert again.fingerprint != made.fingerprint
    assert again.not_after - now <= timedelta(days=14, seconds=60)


def test_any_other_leaf_lives_for_two_days(folder: Path) -> None:
    ca.ensure(folder, days=30)
    leaf = ca.issue(ca.load_signer(folder), ca.new_key(), "api.openai.com")
    assert leaf.not_valid_after_utc - leaf.not_valid_before_utc <= timedelta(hours=48, seconds=1)


def test_whatever_folder_is_made_for_it_is_for_its_owner_alone(tmp_path: Path) -> None:
    """With it comes the project's own folder, in which tapes lie."""
    ca.ensure(tmp_path / ".faultwire" / "ca")
    made = (tmp_path / ".faultwire", tmp_path / ".faultwire" / "ca")
    assert [one.stat().st_mode & 0o777 for one in made] == [0o700, 0o700]
