from __future__ import annotations

from faultwire.events import header
from faultwire.faults.connection._stage import unavailable


def test_an_answer_that_a_proxy_gives_where_it_cannot_connect():
    answer = unavailable(502, "Bad Gateway", "connection_refused", "cannot connect to x")
    assert answer.body == b"cannot connect to x\n"
    assert header(answer.headers, "proxy-status") == "proxy; error=connection_refused"
    assert header(answer.headers, "connection") == "close"
