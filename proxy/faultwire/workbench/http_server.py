"""uvicorn as the workbench runs it: HTTP/1.1, quiet, and ended by a signal without dying of it."""

from __future__ import annotations

import signal
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import uvicorn

if TYPE_CHECKING:
    import socket
    from collections.abc import Callable, Iterator
    from pathlib import Path

GRACE_S = 1
"""Seconds that connections have to end."""
ENDING = (signal.SIGINT, signal.SIGTERM)


class HttpServer(uvicorn.Server):
    """Serves one application. `ending` is called at the end, so that answers without one may end themselves;
    `ended_by` is the signal that ended it, None where there was none."""

    def __init__(
        self, application: Any, ending: Callable[[], None], certificate: Path | None, key: Path | None
    ) -> None:
        self.ended_by: int | None = None
        self._ending = ending
        super().__init__(
            uvicorn.Config(
                application,
                http="h11",
                ws="none",
                loop="asyncio",
                lifespan="off",
                log_config=None,
                access_log=False,
                server_header=False,
                date_header=False,
                proxy_headers=False,
                timeout_graceful_shutdown=GRACE_S,
                ssl_certfile=certificate,
                ssl_keyfile=key,
            )
        )

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Let what is being answered end."""
        self._ending()
        await super().shutdown(sockets)

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """uvicorn would raise what it caught once more, which ends a process before it has cleaned up."""
        before = {one: signal.signal(one, self._stop) for one in ENDING}
        try:
            yield
        finally:
            for one, handler in before.items():
                signal.signal(one, handler)

    def _stop(self, number: int, _frame: object) -> None:
        self.ended_by = number
        self.force_exit = self.should_exit
        self.should_exit = True
