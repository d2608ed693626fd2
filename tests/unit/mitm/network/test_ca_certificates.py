"""What an authority that is limited to hosts can vouch for."""

from __future__ import annotations

import ssl
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import serialization

from faultwire.errors import UsageError
from faultwire.mitm.network import ca
from faultwire.mitm.network.ca_certificates import constraints, limits, root, within

HOSTS = ("api.openai.com", "*.search.example", "10.1.0.0/16")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / ".faultwire" / "ca"


def takes(folder: Path, made: ca.Authority, host: str) -> bool:
    """Does a strict client that trusts the root take a leaf that the key on the disk has signed?"""
    signer, key = ca.load_signer(folder), ca.new_key()
    chain = folder.parent / "chain.pem"
    pem = serialization.Encoding.PEM
    secret = key.private_bytes(pem, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    certificates = [ca.issue(signer, key, host), signer.certificate]
    chain.write_bytes(secret + b"".join(one.public_bytes(pem) for one in certificates))
    server = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    server.load_cert_chain(chain)
    client = ssl.create_default_context(cafile=str(made.certificate))
    client.verify_flags |= ssl.VERIFY_X509_STRICT
    up, down = ssl.MemoryBIO(), ssl.MemoryBIO()
    asking = client.wrap_bio(down, up, server_hostname=host)
    giving = server.wrap_bio(up, down, server_side=True)
    for _ in range(10):
        for end in (asking, giving):
            try:
                end.do_handshake()
            except ssl.SSLWantReadError:
                continue
            except ssl.SSLCertVerificationError as error:
                if "subtree" not in str(error):
                    raise
                return False
            if end is asking:
                return True
    raise AssertionError("the handshake did not end")


@pytest.mark.parametrize(
    ("host", "permitted"),
    [
        ("api.openai.com", True),
        ("eu.api.openai.com", True),
        ("one.search.example", True),
        ("10.1.2.3", True),
        ("openai.com", False),
        ("notapi.openai.com.evil.example", False),
        ("search.example.evil.test", False),
        ("10.2.0.1", False),
        ("::1", False),
    ],
)
def test_it_vouches_for_its_hosts_alone(folder: Path, host: str, permitted: bool) -> None:
    limited = ca.renew(folder, hosts=HOSTS)
    assert limited.hosts == ("api.openai.com", "search.example", "10.1.0.0/16")
    assert takes(folder, limited, host) is permitted
    assert within(ca.load_signer(folder).hosts, host) is permitted
    assert takes(folder, ca.renew(folder), host), "the control: one without a limit vouches for each"


def test_names_alone_permit_no_address(folder: Path) -> None:
    made = ca.renew(folder, hosts=["api.openai.com"])
    assert not takes(folder, made, "127.0.0.1")
    assert not takes(folder, made, "::1")


def test_the_key_on_the_disk_is_not_the_root_s(folder: Path) -> None:
    made = ca.renew(folder, hosts=HOSTS)
    signer = ca.load_signer(folder)
    trusted = x509.load_pem_x509_certificate(made.certificate.read_bytes())
    assert signer.key.public_key() != trusted.public_key()
    signer.certificate.verify_directly_issued_by(trusted)
    assert limits(signer.certificate) == limits(trusted) == signer.hosts
    assert signer.certificate.not_valid_after_utc == trusted.not_valid_after_utc
    assert (folder / "mitmproxy-ca.pem").stat().st_mode & 0o777 == 0o600
    plain = x509.load_pem_x509_certificate(ca.renew(folder).certificate.read_bytes())
    assert limits(plain) == ()


@pytest.mark.parametrize("host", ["", "*", "a.*.example", "https://api.openai.com", "api.openai.com:443"])
def test_what_is_no_host_is_refused_and_nothing_is_deleted(folder: Path, host: str) -> None:
    before = ca.ensure(folder)
    with pytest.raises(UsageError) as refused:
        ca.renew(folder, hosts=["api.openai.com", host])
    assert refused.value.code == "ca.hosts"
    assert ca.describe(folder) == before


def test_addresses_alone_are_no_limit() -> None:
    with pytest.raises(UsageError, match="no host name"):
        constraints(["127.0.0.1"])


@pytest.mark.parametrize("host", ["", "x..y", "a" * 300, "\x00", "[", "10.1.2"])
def test_any_text_may_be_asked_about(host: str) -> None:
    assert within(HOSTS[:1], host) is False
    assert within((), host) is True


def test_a_root_without_limits_signs_leaves_itself() -> None:
    key = ca.new_key()
    made = root(key, 1)
    assert made.extensions.get_extension_for_class(x509.BasicConstraints).value.path_length == 0
