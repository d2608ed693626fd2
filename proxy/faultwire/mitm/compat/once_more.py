"""Requests that a server has surely not answered, and may be sent once more.

A server may close an idle connection in the moment in which it is used again. Nobody did anything wrong, and
a client that had the connection to itself would call again (RFC 9112 §9.3.1). Where streams share a client's
connection, it is we who have to.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from mitmproxy.proxy.layers.http import GetHttpConnection
from mitmproxy.proxy.layers.http._events import ResponseProtocolError

if TYPE_CHECKING:
    from mitmproxy import http

IDEMPOTENT = frozenset({"GET", "HEAD", "OPTIONS", "TRACE", "PUT", "DELETE"})
"""Methods that may be repeated where nobody knows what became of the first time (RFC 9110 §9.2.2)."""


class NewHttpConnection(GetHttpConnection):
    """Asks for a connection on which nothing has been sent yet."""


class Unanswered(ResponseProtocolError):
    """The server ended a connection that had served before, and said nothing of this answer."""


class Unprocessed(ResponseProtocolError):
    """The server says that it has done nothing about this request, or it was never written
    (RFC 9113 §8.7)."""


def may_repeat(event: ResponseProtocolError, request: http.Request) -> bool:
    """May a request be sent once more that was lost so?"""
    if isinstance(event, Unprocessed):
        return True
    return isinstance(event, Unanswered) and request.method.upper() in IDEMPOTENT
