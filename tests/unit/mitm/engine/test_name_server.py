"""Names are answered over TCP, too. (With sockets: `tests/e2e/netns`.)"""

from __future__ import annotations

import asyncio
import socket
import struct

from faultwire.mitm.engine import name_server
from faultwire.mitm.network.dns import Names

QUERY = struct.pack(">6H", 7, 0x0100, 1, 0, 0, 0) + b"\1a\7example\0\0\1\0\1"


def asked(data: bytes) -> bytes:
    async def run() -> bytes:
        ours, theirs = socket.socketpair()
        reader, writer = await asyncio.open_connection(sock=theirs)
        with ours:
            ours.sendall(data)
            ours.shutdown(socket.SHUT_WR)
            await name_server.serve(reader, writer, Names())
            await writer.wait_closed()
            return ours.recv(65_536)

    return asyncio.run(run())


def test_each_query_of_a_connection_is_answered() -> None:
    framed = len(QUERY).to_bytes(2) + QUERY
    answers = asked(framed * 2)
    assert answers.count(socket.inet_aton("198.18.0.1")) == 2
    assert int.from_bytes(answers[:2]) == len(answers) // 2 - 2


def test_what_is_no_query_ends_the_connection() -> None:
    assert asked(b"\0\3abc" + len(QUERY).to_bytes(2) + QUERY) == b""
    assert asked(b"\0\x40half") == b""
