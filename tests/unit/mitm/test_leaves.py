"""Certificates of our own for agents: faultwire.mitm.compat.leaves."""

from __future__ import annotations

from pathlib import Path

import pytest
from cryptography import x509
from mitmproxy.connection import Client, Server
from mitmproxy.options import Options
from mitmproxy.proxy.context import Context
from mitmproxy.test import taddons

from faultwire.mitm.compat import leaves
from faultwire.mitm.network import ca


def asked(host: str) -> Context:
    client = Client(peername=("127.0.0.1", 1), sockname=("127.0.0.1", 2), sni=host)
    context = Context(client, Options())
    context.server = Server(address=("127.0.0.1", 443))
    return context


def test_a_name_s_certificate_is_made_once_by_our_authority(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "ca"
    ca.ensure(folder)
    monkeypatch.setattr(leaves, "KEPT", 1)
    addon = leaves.LeafCertificates()
    with taddons.context(addon) as context:
        context.configure(addon, confdir=str(folder))
        first = addon.get_cert(asked("a.example"))
        assert first.cert.altnames[0].value == "a.example"
        made = x509.load_pem_x509_certificate(first.cert.to_pem())
        made.verify_directly_issued_by(leaves.signer().certificate)
        assert addon.get_cert(asked("a.example")) is first
        assert addon.get_cert(asked("b.example")) is not first
        assert addon.get_cert(asked("a.example")) is not first, "only the newest are kept"
