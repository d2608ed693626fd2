"""Answers the DNS queries of one TCP connection (RFC 7766), each as `network.dns` says."""

from __future__ import annotations

import asyncio
from contextlib import suppress

from faultwire.mitm.network import dns

IDLE_S = 30.0
"""How long a client may take for its next query."""


async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, names: dns.Names) -> None:
    """Answer until the client says nothing more, or nothing that is a query."""
    with suppress(asyncio.IncompleteReadError, TimeoutError, OSError):
        while True:
            async with asyncio.timeout(IDLE_S):
                size = int.from_bytes(await reader.readexactly(2))
                answer = dns.respond(await reader.readexactly(size), names)
            if answer is None:
                break
            writer.write(len(answer).to_bytes(2) + answer)
            await writer.drain()
    writer.close()
