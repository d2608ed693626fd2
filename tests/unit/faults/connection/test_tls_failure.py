from __future__ import annotations

from dataclasses import replace

import pytest
from pydantic import ValidationError

from faultwire.faults.connection.tls_failure import TlsFailure


@pytest.mark.parametrize("reason", ["expired", "wrong_host", "untrusted", "handshake"])
def test_opens_the_tunnel_with_a_flaw(web, reason):
    met = TlsFailure(reason=reason).connect(web)
    assert met.flaw == reason
    assert met.effect


def test_only_a_tunnel_has_a_handshake_to_break(web):
    assert "plain HTTP" in TlsFailure().inapplicable(web)
    tunnel = replace(web, request=replace(web.request, method="CONNECT"))
    assert TlsFailure().inapplicable(tunnel) is None


def test_other_reasons_are_refused():
    with pytest.raises(ValidationError):
        TlsFailure(reason="revoked")
