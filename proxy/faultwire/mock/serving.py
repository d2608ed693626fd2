"""The mock as a program: settings to a server that runs until it is stopped."""

from __future__ import annotations

import asyncio
import signal
from contextlib import ExitStack
from dataclasses import dataclass
from typing import TYPE_CHECKING

from faultwire.mock.answering import Answerer
from faultwire.mock.failing import Failing
from faultwire.mock.mcp import McpServer
from faultwire.mock.pace import Pace
from faultwire.mock.server import MockServer

if TYPE_CHECKING:
    from collections.abc import Callable


@dataclass(frozen=True, slots=True)
class MockSettings:
    """What a mock is started with. Port 0 means any free one."""

    script: str | None = None
    host: str = "127.0.0.1"
    port: int = 0
    tls: bool = False
    tls_port: int = 0
    chunk_delay_ms: int = 0
    first_event_delay_ms: int = 0
    tokens_per_s: float | None = None
    jitter: float = 0.0
    seed: int = 42


@dataclass(frozen=True, slots=True)
class Listening:
    """Where a mock listens. `https` and `ca` (a PEM file to trust) are None without TLS."""

    http: int
    https: int | None = None
    ca: str | None = None


def serve(settings: MockSettings, ready: Callable[[Listening], None], *, watch: int | None = None) -> None:
    """Serve until SIGINT or SIGTERM, or until the file descriptor `watch` reaches its end.

    Raises ScenarioError for a script that is not understood and UsageError for a port that is taken.
    """
    script = None
    if settings.script is not None:
        from faultwire.mock.script import load

        script = load(settings.script)
    server = McpServer(more=tuple(tool.made() for tool in script.tools) if script else ())
    answerer = Answerer(
        script,
        settings.first_event_delay_ms,
        settings.chunk_delay_ms,
        server,
        pace=Pace(0, 0, settings.tokens_per_s, settings.jitter, settings.seed),
        failing=Failing(script.failures if script else ()),
    )
    asyncio.run(_serve(settings, answerer, ready, watch))


async def _serve(
    settings: MockSettings, answerer: Answerer, ready: Callable[[Listening], None], watch: int | None
) -> None:
    with ExitStack() as stack:
        made = None
        if settings.tls:
            from faultwire.mock.tls import identity

            made = stack.enter_context(identity())
        server = MockServer(
            answerer,
            host=settings.host,
            port=settings.port,
            tls=made.context if made else None,
            tls_port=settings.tls_port,
        )
        stop = _stopper(watch)
        async with server:
            ready(Listening(server.http, server.https if made else None, str(made.ca) if made else None))
            await stop.wait()


def _stopper(watch: int | None) -> asyncio.Event:
    loop = asyncio.get_running_loop()
    stop = asyncio.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, stop.set)
    if watch is not None:
        loop.add_reader(watch, _drain, loop, watch, stop)
    return stop


def _drain(loop: asyncio.AbstractEventLoop, watch: int, stop: asyncio.Event) -> None:
    import os

    if not os.read(watch, 4096):
        loop.remove_reader(watch)
        stop.set()
