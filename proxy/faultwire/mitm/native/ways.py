"""The ways in which an engine serves connections; doctor names them, without what serves them."""

from __future__ import annotations

WAYS = {
    "transports": "",
    "streams": "this Python's transports cannot be taken over: the native path reads sockets through streams",
    "mitmproxy": "the self-test of the native path failed: connections stay on mitmproxy's own layers",
    "handler": "the self-test of our event handler failed: connections stay on mitmproxy's own layers",
}
"""How an engine serves, and what it says of it where that is not the quickest way."""
