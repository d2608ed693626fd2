from __future__ import annotations

from faultwire.events import Reset, header
from faultwire.faults.connection.refuse import Refuse


def test_resets_before_upstream_is_called(run, web, dice):
    mutator = Refuse().start(web, dice())
    assert run(mutator, web, [b"never"], "bytes") == [Reset()]
    assert mutator.effect == "refused before upstream was called"


def test_a_tunnel_is_refused_as_proxies_do(web):
    """RFC 9209 §2.3.5."""
    met = Refuse().connect(web)
    assert met.response.status == 502
    assert header(met.response.headers, "proxy-status") == "proxy; error=connection_refused"
    assert b"connection refused" in met.response.body
