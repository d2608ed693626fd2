"""A captured connection knows its server before the first byte."""

from __future__ import annotations

from mitmproxy import connection, options
from mitmproxy.proxy import context

from faultwire.mitm.compat.destination import Captured


def test_the_server_is_known() -> None:
    client = connection.Client(peername=("198.18.0.1", 1), sockname=("198.18.0.1", 443), timestamp_start=0)
    made = context.Context(client, options.Options())
    Captured(made, "api.openai.com", 443)
    assert made.server.address == ("api.openai.com", 443)
