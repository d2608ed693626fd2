"""The mock in a thread of this process, for tests and programs without an event loop."""

from __future__ import annotations

import asyncio
import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from faultwire.mock.server import MockServer


@contextmanager
def running(server: MockServer) -> Iterator[MockServer]:
    """Serve inside the block. Raises what `MockServer.start` raises."""
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever, name="faultwire-mock", daemon=True)
    thread.start()
    try:
        asyncio.run_coroutine_threadsafe(server.start(), loop).result()
        yield server
    finally:
        asyncio.run_coroutine_threadsafe(_end(server), loop).result()
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
        loop.close()


async def _end(server: MockServer) -> None:
    """Close, and let what was cancelled by it come to its end."""
    await server.close()
    others = asyncio.all_tasks() - {asyncio.current_task()}
    await asyncio.gather(*others, return_exceptions=True)
