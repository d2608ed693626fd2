from __future__ import annotations

import ssl

import pytest

from faultwire.mock.tls import Identity, identity


def shake(made: Identity, name: str) -> ssl.SSLObject:
    """A whole handshake in memory."""
    trust = ssl.create_default_context(cafile=str(made.ca))
    there, back = ssl.MemoryBIO(), ssl.MemoryBIO()
    client = trust.wrap_bio(back, there, server_hostname=name)
    server = made.context.wrap_bio(there, back, server_side=True)
    for _ in range(8):
        for side in (client, server):
            try:
                side.do_handshake()
            except ssl.SSLWantReadError:
                continue
    client.do_handshake()
    return client


def test_the_providers_and_this_machine_are_served() -> None:
    with identity() as made:
        for name in ("api.openai.com", "api.anthropic.com", "localhost", "127.0.0.1"):
            assert shake(made, name).version() == "TLSv1.3"


def test_other_names_are_not() -> None:
    with identity() as made, pytest.raises(ssl.SSLCertVerificationError):
        shake(made, "example.com")


def test_another_authority_is_not_trusted() -> None:
    with identity() as made, identity() as other, pytest.raises(ssl.SSLCertVerificationError):
        shake(Identity(made.context, other.ca), "localhost")


def test_nothing_stays_on_disk_and_keys_are_private() -> None:
    with identity() as made:
        folder = made.ca.parent
        assert (folder / "server.pem").stat().st_mode & 0o777 == 0o600
        assert folder.stat().st_mode & 0o777 == 0o700
        assert "PRIVATE" not in made.ca.read_text()
    assert not folder.exists()
