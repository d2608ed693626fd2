"""Counts the handshakes that clients give up, and finds out whose they were."""

from __future__ import annotations

import asyncio
from collections import Counter
from typing import TYPE_CHECKING

from faultwire import clock
from faultwire.mitm.network.client_process import Processes, program_of
from faultwire.mitm.sessions.handshakes import TlsClient

if TYPE_CHECKING:
    from collections.abc import Awaitable

    from mitmproxy.connection import Client
    from mitmproxy.proxy.context import Context

    from faultwire.mitm.flow.connections import ClientConnection
    from faultwire.mitm.sessions.session import Session

LOOKUPS = 8
"""How often the program of a host's client is looked for: each time costs some 15 ms of CPU."""
SHARE, AHEAD_S = 0.02, 0.2
"""Of one processor, what may go into finding the processes of clients, and so much at once."""
SETTLE_S = 2.0
"""Seconds for which the end of a session waits for the last of these look-ups."""


class FailedHandshakes:
    """Of all sessions of an engine. A client that gives up has often closed its socket by the time it is
    noticed, and then nobody knows whose it was: of its next attempts the program is looked for at their
    beginning."""

    def __init__(self) -> None:
        self._suspects: Counter[str] = Counter()
        self._programs: dict[str, asyncio.Future[str | None]] = {}
        self._naming: set[asyncio.Task[None]] = set()
        self._processes = Processes()
        self._since, self._spent = clock.monotonic(), 0.0

    def is_suspect(self, host: str) -> bool:
        """Have clients given up on this host before, so that those of the next are still looked for?"""
        return 0 < self._suspects[host] < LOOKUPS

    def identify(self, link: ClientConnection, client: Client, hello: bytes) -> None:
        """A client says hello, in these TLS records: find out who it is. As long as it waits
        for us, its socket is there."""
        from faultwire.mitm.network.client_hello import fingerprint  # not needed without TLS

        began, process = clock.monotonic(), None
        if client.peername and client.sockname and self._spent < AHEAD_S + SHARE * (began - self._since):
            theirs, ours = client.peername[:2], client.sockname[:2]
            process = self._processes.of(theirs, ours, apart=link.captured)
            self._spent += clock.monotonic() - began
        link.tls_client = TlsClient(process, fingerprint(hello))

    def begin(self, link: ClientConnection, client: Client, host: str) -> Awaitable[object] | None:
        """A client says hello. Where clients have given up on this host before, and its process is not known,
        what is to be waited for before it is answered."""
        if host not in self._suspects or link.tls_client.process is not None:
            return None
        found = self._look_up(client, host)
        return asyncio.wait([found], timeout=SETTLE_S) if found is not None else None

    def fail(self, link: ClientConnection, client: Client, host: str, error: str) -> None:
        """A client gave up, in the handshake or, without an error, after it."""
        link.tls_host = None
        found = self._programs.pop(client.id, None)
        if found is None and link.tls_client.process is None:
            found = self._look_up(client, host)
        for session in link.sessions:
            self._count(session, link.tls_client, host, error, found)

    def end(self, link: ClientConnection, client: Client) -> None:
        """A client's connection is over."""
        if link.tls_host is not None:
            self.fail(link, client, link.tls_host, "")
        self._programs.pop(client.id, None)

    async def settle(self) -> None:
        """Return once every program that is looked for is known, or nobody knows it."""
        if self._naming:
            await asyncio.wait(self._naming, timeout=SETTLE_S)

    def _look_up(self, client: Client, host: str) -> asyncio.Future[str | None] | None:
        if self._suspects[host] >= LOOKUPS or not client.peername or not client.sockname:
            return None
        self._suspects[host] += 1
        theirs, ours = client.peername[:2], client.sockname[:2]
        found = asyncio.get_running_loop().run_in_executor(None, program_of, theirs, ours)
        self._programs[client.id] = found
        return found

    def _count(
        self,
        session: Session,
        who: TlsClient,
        host: str,
        error: str,
        found: asyncio.Future[str | None] | None,
    ) -> None:
        reason = session.handshakes.fail(host, error, who)
        if found is None:
            return

        async def name() -> None:
            program = await found
            if program is not None:
                session.handshakes.name(host, reason, program, who)

        task = asyncio.get_running_loop().create_task(name())
        self._naming.add(task)
        task.add_done_callback(self._naming.discard)


def host_of(context: Context) -> str:
    """The host that a client's handshake is for: the name it says, or else where its tunnel leads."""
    address = context.server.address
    return context.client.sni or (address[0] if address else "")
