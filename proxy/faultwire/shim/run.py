"""Runs a stdio server behind the proxy: its bridge, the agent's side, its signals and its exit code."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
import threading
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from faultwire.dice import token
from faultwire.errors import AgentError
from faultwire.mock.server import MockServer
from faultwire.shim.agent_side import AgentSide, through
from faultwire.shim.bridge import Bridge, Lines

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterator, Mapping, Sequence

    from faultwire.shim.find import Surroundings

_PASSED_ON = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT, signal.SIGUSR1, signal.SIGUSR2)
_PIECE = 1 << 16
_LEFT_S = 2.0
"""How long a server's output is still read once it has ended: what it started may hold that open."""


def run(command: Sequence[str], name: str, around: Surroundings, environment: Mapping[str, str]) -> int:
    """Run the server until it ends; its exit code, or the negative number of the signal that ended it.

    Raises AgentError where it cannot be started.
    """
    return asyncio.run(_run(command, name, around, environment))


async def _run(
    command: Sequence[str], name: str, around: Surroundings, environment: Mapping[str, str]
) -> int:
    async with _started(command, {**environment, **around.variables}) as (server, ended):
        assert server.stdin is not None
        secret = token(16)
        bridge = Bridge(secret, server.stdin.write)
        for number in _PASSED_ON:
            asyncio.get_running_loop().add_signal_handler(number, _pass_on, server, number)
        async with MockServer(bridge) as listening:
            with _announced_port(around.shims, listening.http):
                url = f"http://127.0.0.1:{listening.http}/mcp/{name}"
                agent = AgentSide(url, through(around.proxy), secret, bridge, _write_line)
                listening_task = asyncio.ensure_future(agent.listen())
                reading = asyncio.ensure_future(_read_agent(agent, server))
                await _read_server(server, ended, bridge)
                await agent.close()
                listening_task.cancel()
                reading.cancel()
                await ended.wait()
                assert server.returncode is not None
                return server.returncode


class _Watched(asyncio.subprocess.SubprocessStreamProtocol):
    """Tells of the server's end at once; asyncio waits for all who hold its pipes as well."""

    def __init__(self, loop: asyncio.AbstractEventLoop, ended: asyncio.Event) -> None:
        super().__init__(limit=_PIECE, loop=loop)
        self._ended = ended

    def process_exited(self) -> None:
        self._ended.set()
        super().process_exited()


@asynccontextmanager
async def _started(
    command: Sequence[str], environment: Mapping[str, str]
) -> AsyncIterator[tuple[asyncio.subprocess.Process, asyncio.Event]]:
    """The server, and what is set once it has ended."""
    loop, ended = asyncio.get_running_loop(), asyncio.Event()
    try:
        transport, protocol = await loop.subprocess_exec(
            lambda: _Watched(loop, ended),
            *command,
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=None,
            env=environment,
            process_group=0,  # signals reach it through us, once
        )
    except OSError as error:
        raise AgentError(
            f"cannot start `{command[0]}`: {error.strerror}", code="agent.not_started", hint="check `PATH`"
        ) from error
    try:
        yield asyncio.subprocess.Process(transport, protocol, loop), ended
    finally:
        transport.close()


async def _read_agent(agent: AgentSide, server: asyncio.subprocess.Process) -> None:
    """The agent's messages, in order, until it closes our standard input; then the server's is closed."""
    lines = Lines()
    pieces: asyncio.Queue[bytes] = asyncio.Queue()
    threading.Thread(target=_read_input, args=(asyncio.get_running_loop(), pieces), daemon=True).start()
    while data := await pieces.get():
        for line in lines.feed(data):
            await agent.send(line)
    await agent.idle()
    assert server.stdin is not None
    server.stdin.close()


def _read_input(loop: asyncio.AbstractEventLoop, pieces: asyncio.Queue[bytes]) -> None:
    while True:
        data = os.read(sys.stdin.fileno(), _PIECE)
        try:
            loop.call_soon_threadsafe(pieces.put_nowait, data)
        except RuntimeError:
            return  # the server ended first, and the loop with it
        if not data:
            return


async def _read_server(server: asyncio.subprocess.Process, ended: asyncio.Event, bridge: Bridge) -> None:
    """All that the server says, until it closes its output, or has ended and somebody else holds it."""
    reading = asyncio.ensure_future(_read_answers(server, bridge))
    ending = asyncio.ensure_future(ended.wait())
    await asyncio.wait({reading, ending}, return_when=asyncio.FIRST_COMPLETED)
    if ending.done():
        await asyncio.wait({reading}, timeout=_LEFT_S)
    ending.cancel()
    reading.cancel()
    bridge.end()


async def _read_answers(server: asyncio.subprocess.Process, bridge: Bridge) -> None:
    assert server.stdout is not None
    lines = Lines()
    while data := await server.stdout.read(_PIECE):
        for line in lines.feed(data):
            bridge.receive(line)


def _write_line(line: bytes) -> None:
    sys.stdout.buffer.write(line + b"\n")
    sys.stdout.buffer.flush()


def _pass_on(server: asyncio.subprocess.Process, number: signal.Signals) -> None:
    if server.returncode is None:
        server.send_signal(number)


@contextmanager
def _announced_port(folder: Path | None, port: int) -> Iterator[None]:
    """While this runs the proxy may connect to our port."""
    if folder is None:
        yield
        return
    folder.mkdir(mode=0o700, exist_ok=True)
    place = folder / str(port)
    place.touch(mode=0o600)
    try:
        yield
    finally:
        place.unlink(missing_ok=True)
