from __future__ import annotations

import stat
from datetime import timedelta
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from faultwire import clock
from faultwire.capture.bundle import certificates, pem, remove_trust, sources, write_trust
from faultwire.errors import CaptureError


def root(name: str) -> bytes:
    key = ec.generate_private_key(ec.SECP256R1())
    subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])
    now = clock.utc_now()
    return (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(subject)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now)
        .not_valid_after(now + timedelta(days=1))
        .sign(key, hashes.SHA256())
        .public_bytes(serialization.Encoding.DER)
    )


@pytest.fixture
def authority(tmp_path: Path) -> Path:
    path = tmp_path / "authority.pem"
    path.write_bytes(pem(root("ours")))
    return path


def test_certificates_are_found_among_other_text_and_bad_ones_are_left_out() -> None:
    one, two = root("one"), root("two")
    text = (
        b"# comment\n"
        + pem(one)
        + b"junk\n-----BEGIN CERTIFICATE-----\n====\n-----END CERTIFICATE-----\n"
        + pem(two)
    )
    assert certificates(text) == [one, two]
    assert certificates(b"") == []


def test_the_bundle_holds_our_authority_first_then_every_root_of_the_machine_once(
    tmp_path: Path, authority: Path
) -> None:
    files = write_trust(tmp_path / "out", authority, {})
    found = certificates(files.bundle.read_bytes())
    expected = {der for path in sources({}) for der in certificates(path.read_bytes())}
    assert found[0] == certificates(authority.read_bytes())[0]
    assert set(found[1:]) == expected
    assert len(found) == len(set(found))
    assert certificates(files.ca_cert.read_bytes()) == found[:1]


def test_roots_that_the_user_named_are_kept(tmp_path: Path, authority: Path) -> None:
    theirs = root("corporate")
    (tmp_path / "corporate.pem").write_bytes(pem(theirs))
    plain = write_trust(tmp_path / "out", authority, {})
    files = write_trust(tmp_path / "out", authority, {"SSL_CERT_FILE": str(tmp_path / "corporate.pem")})
    assert theirs in certificates(files.bundle.read_bytes())
    assert theirs not in certificates(plain.bundle.read_bytes())


def test_a_bundle_of_ours_in_the_environment_is_no_source(tmp_path: Path, authority: Path) -> None:
    old = write_trust(tmp_path / "old", authority, {})
    other = tmp_path / "other.pem"
    other.write_bytes(pem(root("the next one")))
    files = write_trust(tmp_path / "new", other, {"SSL_CERT_FILE": str(old.bundle)})
    assert certificates(authority.read_bytes())[0] not in certificates(files.bundle.read_bytes())


def test_the_same_contents_are_written_once(tmp_path: Path, authority: Path) -> None:
    first = write_trust(tmp_path / "out", authority, {})
    before = first.bundle.stat().st_mtime_ns
    assert write_trust(tmp_path / "out", authority, {}) == first
    assert first.bundle.stat().st_mtime_ns == before
    assert len(list((tmp_path / "out").iterdir())) == 4
    assert stat.S_IMODE((tmp_path / "out").stat().st_mode) == 0o700


def test_a_file_without_a_certificate_is_no_authority(tmp_path: Path) -> None:
    (tmp_path / "empty.pem").write_bytes(b"nothing")
    with pytest.raises(CaptureError) as caught:
        write_trust(tmp_path, tmp_path / "empty.pem", {})
    assert caught.value.code == "capture.no_authority"


def test_remove_trust_leaves_the_authority_itself(tmp_path: Path, authority: Path) -> None:
    write_trust(tmp_path, authority, {})
    remove_trust(tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["authority.pem"]


@pytest.mark.parametrize(("folder", "fits"), [("out", True), ("a b", True), ("it's", False), ("a:b", False)])
def test_php_gets_settings_that_name_the_bundle_where_its_path_can_be_written(
    folder: str, fits: bool, tmp_path: Path, authority: Path
) -> None:
    files = write_trust(tmp_path / folder, authority, {})
    assert (files.php_settings is not None) == fits
    if files.php_settings is not None:
        (settings,) = files.php_settings.iterdir()
        bundle = files.bundle
        assert settings.read_text() == f"curl.cainfo='{bundle}'\nopenssl.cafile='{bundle}'\n"
