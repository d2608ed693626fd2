"""Certificates that nobody should take, and clients that do not, over memory."""

from __future__ import annotations

import contextlib
import ssl
from pathlib import Path

import pytest
from OpenSSL import SSL

from faultwire.mitm.network import broken_tls, ca

HOST = "api.example.test"


def handshake(flaw: str, folder: Path, *, verify: bool = True) -> ssl.SSLObject:
    """Python's own TLS as the client of ours. Raises what the client raises."""
    authority = ca.ensure(folder)
    server = broken_tls.server_side(flaw, ca.load_signer(folder), HOST, b"http/1.1")  # type: ignore[arg-type]
    context = ssl.create_default_context(cafile=str(authority.certificate))
    context.set_alpn_protocols(["h2", "http/1.1"])
    if not verify:
        context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    to_client, to_server = ssl.MemoryBIO(), ssl.MemoryBIO()
    client = context.wrap_bio(to_client, to_server, server_hostname=HOST)
    for _ in range(10):
        try:
            client.do_handshake()
        except ssl.SSLWantReadError:
            pass
        else:
            return client
        server.bio_write(to_server.read())
        with contextlib.suppress(SSL.Error):  # one that failed still has an alert to send
            server.do_handshake()
        to_client.write(server.bio_read(65536))
    raise AssertionError("the handshake did not end")


@pytest.mark.parametrize(
    ("flaw", "words"),
    [
        ("expired", "certificate has expired"),
        ("wrong_host", "Hostname mismatch"),
        ("untrusted", "unable to get local issuer certificate"),
    ],
)
def test_a_client_that_looks_finds_the_flaw_and_no_other(flaw: str, words: str, tmp_path: Path) -> None:
    with pytest.raises(ssl.SSLCertVerificationError) as found:
        handshake(flaw, tmp_path / "ca")
    assert words in found.value.verify_message


def test_an_aborted_handshake_is_an_alert(tmp_path: Path) -> None:
    with pytest.raises(ssl.SSLError) as found:
        handshake("handshake", tmp_path / "ca")
    assert "HANDSHAKE_FAILURE" in str(found.value)


@pytest.mark.parametrize("flaw", ["expired", "wrong_host", "untrusted"])
def test_a_client_that_does_not_look_goes_on(flaw: str, tmp_path: Path) -> None:
    client = handshake(flaw, tmp_path / "ca", verify=False)
    assert client.selected_alpn_protocol() == "http/1.1"


def test_each_stranger_is_another(tmp_path: Path) -> None:
    one, two = ca.stranger(), ca.stranger()
    assert one.certificate.subject != two.certificate.subject
    assert one.certificate != ca.ensure(tmp_path / "ca")
