from __future__ import annotations

import asyncio
import socket
from typing import Any

from faultwire.mitm.engine.handed_over import CLOSED, IDLE, HandedOver, frame_of


class Clients:
    """What is told of sessions."""

    def __init__(self) -> None:
        self.announced: list[str] = []

    def announce(self, name: str) -> None:
        self.announced.append(name)


async def test_a_connection_is_served_with_its_bytes_after_its_session_is_announced() -> None:
    ours, theirs = socket.socketpair()
    client, accepted = socket.socketpair()
    clients, served = Clients(), asyncio.get_running_loop().create_future()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        served.set_result((await reader.readexactly(5), list(clients.announced)))
        writer.close()

    handed = HandedOver(theirs.detach(), clients, serve)  # type: ignore[arg-type]
    handed.start()
    client.send(b"hello")
    socket.send_fds(ours, [frame_of("billing")], [accepted.fileno()])
    accepted.close()
    assert await asyncio.wait_for(served, 10) == (b"hello", ["billing"])
    handed.stop()
    for one in (ours, client):
        one.close()
    handed.close()


async def test_a_drained_engine_says_so_and_is_idle_once_nobody_is_served() -> None:
    ours, theirs = socket.socketpair()
    ours.setblocking(False)
    loop = asyncio.get_running_loop()
    gone = asyncio.Event()
    serving: Any = {asyncio.create_task(gone.wait())}
    next(iter(serving)).add_done_callback(serving.discard)
    handed = HandedOver(theirs.detach(), Clients(), print)  # type: ignore[arg-type]
    handed.drain(serving, 60.0)
    assert await loop.sock_recv(ours, 16) == CLOSED
    waiting = asyncio.create_task(loop.sock_recv(ours, 16))
    for _ in range(5):
        await asyncio.sleep(0)
    assert not waiting.done()
    gone.set()
    assert await asyncio.wait_for(waiting, 10) == IDLE
    ours.close()
    handed.close()


async def test_a_drained_engine_is_idle_when_the_time_is_over() -> None:
    ours, theirs = socket.socketpair()
    ours.setblocking(False)
    never = asyncio.create_task(asyncio.Event().wait())
    handed = HandedOver(theirs.detach(), Clients(), print)  # type: ignore[arg-type]
    handed.drain({never}, 0.0)  # type: ignore[arg-type]
    said = b""
    while len(said) < 2:
        said += await asyncio.wait_for(asyncio.get_running_loop().sock_recv(ours, 16), 10)
    assert said == CLOSED + IDLE
    never.cancel()
    ours.close()
    handed.close()
