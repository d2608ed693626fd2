"""The sockets that the engine listens on, and who is let in at them."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

from faultwire.errors import port_taken
from faultwire.mitm.compat.http1 import refused
from faultwire.mitm.messages import error_responses

if TYPE_CHECKING:
    from collections.abc import Callable

    from mitmproxy.connection import Client

    from faultwire.mitm.flow.gateway import Gateway
    from faultwire.mitm.sessions.sources import Source


async def listen(host: str, port: int, accept: Callable[..., Any]) -> asyncio.Server:
    """A server that takes nothing yet. Raises UsageError where the port is taken."""
    try:
        return await asyncio.start_server(accept, host, port, start_serving=False, backlog=512)
    except OSError as error:
        raise port_taken(host, port, error) from error


def let_in(gateway: Gateway, client: Client, writer: asyncio.StreamWriter) -> Source | None:
    """Where a client comes from, to be released at its end; None where it is turned away.

    It is told so without a look at what it sends, which would take time and memory: where it has sent
    something already, it may see no more than a reset.
    """
    gateway.access.enter(client)
    source = gateway.access.source(client)
    if gateway.sources.enter(source):
        return source
    refusal = error_responses.crowded(gateway.sources.name(source), gateway.sources.limit)
    gateway.stats.crowded_out += 1
    gateway.cut_off(client, refusal.message)
    gateway.access.leave(client)
    writer.write(refused(refusal))
    writer.close()
    return None
