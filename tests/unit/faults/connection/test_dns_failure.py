from __future__ import annotations

import pytest

from faultwire.events import header
from faultwire.faults.connection.dns_failure import DnsFailure


@pytest.mark.parametrize(
    ("reason", "status", "error"),
    [("nxdomain", 502, 'dns_error; rcode="NXDOMAIN"'), ("timeout", 504, "dns_timeout")],
)
def test_it_repeats_the_answer_of_a_proxy(web, dice, reason, status, error):
    """RFC 9209 §2.3.1 and §2.3.2: status and `proxy-status` belong together."""
    fault = DnsFailure(reason=reason)
    met = fault.connect(web)
    assert met.response.status == status
    assert header(met.response.headers, "proxy-status") == f"proxy; error={error}"
    assert header(met.response.headers, "content-length") == str(len(met.response.body))
    assert web.request.host.encode() in met.response.body
    assert met.effect.endswith(f": {status} to CONNECT")
    mutator = fault.start(web, dice())
    assert mutator.effect is None
    assert mutator.answer() == met.response
    assert mutator.effect.endswith(f": answered {status}")
