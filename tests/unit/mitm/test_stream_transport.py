"""Streams over a connection of mitmproxy's network stack. (With real tunnels: `tests/e2e/packets`.)"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any

import pytest

from faultwire.mitm.compat.stream_transport import HIGH, LOW, StreamTransport, opened
from faultwire.mitm.compat.transports import reset_now


class Stack:
    """What mitmproxy's stack gives for a connection: it takes what is written once `taken` lets it."""

    def __init__(self) -> None:
        self.came: asyncio.Queue[bytes | OSError] = asyncio.Queue()
        self.sent: list[bytes] = []
        self.calls: list[str] = []
        self.taken = asyncio.Event()
        self.taken.set()

    def get_extra_info(self, name: str) -> tuple[str, int]:
        return {"peername": ("10.66.87.2", 40000), "sockname": ("198.18.0.1", 443)}[name]

    async def read(self, size: int) -> bytes:
        found = await self.came.get()
        if isinstance(found, OSError):
            raise found
        return found

    def write(self, data: bytes) -> None:
        self.sent.append(data)

    async def drain(self) -> None:
        await self.taken.wait()

    def write_eof(self) -> None:
        self.calls.append("write_eof")

    def close(self) -> None:
        self.calls.append("close")


def played(play: Callable[[Stack, list[str]], Coroutine[Any, Any, None]]) -> list[str]:
    """Run it; what was reset."""
    resets: list[str] = []

    async def run() -> None:
        async with asyncio.timeout(10):
            await play(Stack(), resets)

    asyncio.run(run())
    return resets


async def settle() -> None:
    for _ in range(10):
        await asyncio.sleep(0)


def test_bytes_pass_both_ways_and_the_addresses_are_the_client_s() -> None:
    async def play(stack: Stack, resets: list[str]) -> None:
        reader, writer = opened(stack, lambda: resets.append("x"))
        assert writer.get_extra_info("peername") == ("10.66.87.2", 40000)
        assert writer.get_extra_info("sockname") == ("198.18.0.1", 443)
        assert writer.get_extra_info("socket") is None
        stack.came.put_nowait(b"ping")
        assert await reader.read(100) == b"ping"
        writer.write(b"po")
        writer.write(b"ng")
        writer.close()
        await writer.wait_closed()
        assert b"".join(stack.sent) == b"pong", "what was written before the end is sent"
        assert stack.calls == ["close"]

    assert played(play) == []


def test_an_end_is_an_end_of_one_direction() -> None:
    async def play(stack: Stack, resets: list[str]) -> None:
        reader, writer = opened(stack, lambda: resets.append("x"))
        stack.came.put_nowait(b"")
        assert await reader.read() == b""
        writer.write(b"still")
        writer.write_eof()
        writer.write(b"not this")
        await settle()
        assert (stack.sent, stack.calls) == ([b"still"], ["write_eof"])
        assert not writer.is_closing()
        writer.close()
        await writer.wait_closed()

    assert played(play) == []


def test_a_client_that_takes_nothing_makes_the_writer_wait() -> None:
    async def play(stack: Stack, resets: list[str]) -> None:
        _, writer = opened(stack, lambda: resets.append("x"))
        stack.taken.clear()
        for _ in range(5):
            writer.write(b"x" * (HIGH // 4))
        waiting = asyncio.create_task(writer.drain())
        await settle()
        assert not waiting.done()
        assert writer.transport.get_write_buffer_size() == 5 * (HIGH // 4)
        stack.taken.set()
        await waiting
        assert writer.transport.get_write_buffer_size() <= LOW
        writer.transport.abort()
        await settle()

    assert played(play) == []


def test_nothing_is_read_while_reading_is_paused() -> None:
    async def play(stack: Stack, resets: list[str]) -> None:
        reader, writer = opened(stack, lambda: resets.append("x"))
        transport = writer.transport
        assert isinstance(transport, StreamTransport)
        transport.pause_reading()
        stack.came.put_nowait(b"one")
        stack.came.put_nowait(b"two")
        await settle()
        assert not transport.is_reading()
        assert stack.came.qsize() >= 1, "at most the read that had begun"
        transport.resume_reading()
        assert await reader.readexactly(6) == b"onetwo"
        transport.abort()
        await settle()

    assert played(play) == []


@pytest.mark.parametrize(("how", "resets"), [("reset", ["reset"]), ("abort", []), ("close", [])])
def test_only_a_reset_is_reported_as_one(how: str, resets: list[str]) -> None:
    async def play(stack: Stack, found: list[str]) -> None:
        _, writer = opened(stack, lambda: found.append("reset"))
        stack.taken.clear()
        writer.write(b"never taken")
        await settle()
        if how == "reset":
            reset_now(writer)
            reset_now(writer)
        else:
            getattr(writer.transport, how)()
            stack.taken.set()
        await settle()
        assert stack.calls == ["close"]
        assert writer.is_closing()

    assert played(play) == resets


def test_a_client_that_is_gone_ends_it() -> None:
    async def play(stack: Stack, resets: list[str]) -> None:
        reader, writer = opened(stack, lambda: resets.append("x"))
        stack.came.put_nowait(OSError("connection closed"))
        with pytest.raises(OSError, match="connection closed"):
            await reader.read()
        assert writer.is_closing()

    assert played(play) == []
