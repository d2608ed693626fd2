"""The engine's event loop: look-ups go through the guard, connections through the user's own proxy."""

from __future__ import annotations

import asyncio
import errno
import logging
import socket
import threading
from contextlib import suppress
from typing import TYPE_CHECKING, Any, TypeVar, TypeVarTuple

from faultwire.mitm.network.proxy_connection import CHAINED, ProxyFailed, connect

if TYPE_CHECKING:
    from collections.abc import Callable
    from concurrent.futures import Executor

    from faultwire.mitm.network.egress_guard import Guard

logger = logging.getLogger(__name__)

_Args = TypeVarTuple("_Args")
_Found = TypeVar("_Found")


class GuardedLoop(asyncio.SelectorEventLoop):
    """An event loop whose look-ups leave only addresses that may be connected to. The connection then
    goes to one of these, so that a name cannot change its mind in between.

    A look-up may take as long as the resolver likes: none of them takes a place in the pool that the tape
    needs, nor has the end of the process to wait for it.
    """

    guard: Guard | None = None
    _out_of_files = False

    def __init__(self) -> None:
        super().__init__()
        self._looked_up: dict[tuple[Any, ...], asyncio.Future[Any]] = {}

    def _accept_connection(
        self,
        factory: Any,
        sock: Any,
        sslcontext: Any = None,
        server: Any = None,
        backlog: int = 100,
        *rest: Any,
    ) -> None:
        """As in asyncio, one connection at a time. With its 100 and more, every one of them that finds no
        free descriptor is logged with its own traceback, and asks for another pause."""
        super()._accept_connection(factory, sock, sslcontext, server, 1, *rest)  # type: ignore[misc]

    def call_exception_handler(self, context: dict[str, Any]) -> None:
        """As in asyncio, but one line, once, where descriptors run out: asyncio pauses, and tries again."""
        error = context.get("exception")
        if isinstance(error, OSError) and error.errno in (errno.EMFILE, errno.ENFILE) and "socket" in context:
            if not self._out_of_files:
                self._out_of_files = True
                logger.error("no file descriptor is left: new connections wait until one is (`ulimit -n`)")
            return
        super().call_exception_handler(context)

    async def create_connection(
        self, protocol_factory: Any, host: Any = None, port: Any = None, **arguments: Any
    ) -> Any:
        """As in asyncio, through the user's proxy where `CHAINED` names one. Raises ProxyFailed."""
        proxy = CHAINED.get()
        if proxy is None or host is None:
            return await super().create_connection(protocol_factory, host, port, **arguments)
        # The user named it, wherever it is: no rule of the guard holds for it, but it must not be ourselves.
        try:
            infos = await super().getaddrinfo(proxy.host, proxy.port, type=socket.SOCK_STREAM)
        except (OSError, UnicodeError):
            raise ProxyFailed(proxy, "has a name that cannot be looked up") from None
        if self.guard is not None and any(
            self.guard.is_listener(str(info[4][0]), proxy.port) for info in infos
        ):
            raise ProxyFailed(proxy, "is this proxy itself")
        sock = await connect(self, proxy, infos, host, port)
        try:
            return await super().create_connection(protocol_factory, sock=sock)
        except BaseException:
            sock.close()
            raise

    async def getaddrinfo(self, host: Any, port: Any, **arguments: Any) -> Any:
        """As in asyncio. Raises Refused (an OSError) where no allowed address is left."""
        try:
            infos: Any = await super().getaddrinfo(host, port, **arguments)
        except UnicodeError as error:  # no name can be like that (RFC 1035 §2.3.4); nobody expects this
            raise OSError(f"`{host}` is no host name") from error
        if self.guard is None or not isinstance(host, str):
            return infos
        return self.guard.filter(host, int(port or 0), infos)

    def run_in_executor(
        self, executor: Executor | None, func: Callable[[*_Args], _Found], *args: *_Args
    ) -> asyncio.Future[_Found]:
        """As in asyncio, look-ups excepted: each has a thread of its own, and is shared by who ask alike."""
        what: object = func
        if executor is not None or what is not socket.getaddrinfo:
            return super().run_in_executor(executor, func, *args)
        found = self._looked_up.get(args)
        if found is None:
            found = self._looked_up[args] = self.create_future()
            found.add_done_callback(lambda _: self._looked_up.pop(args, None))
            threading.Thread(target=self._look_up, args=(found, args), daemon=True).start()
        return asyncio.shield(found)

    def _look_up(self, found: asyncio.Future[Any], args: tuple[Any, ...]) -> None:
        try:
            infos = socket.getaddrinfo(*args)
        except Exception as error:  # noqa: BLE001 - it belongs to those who wait for it
            resolve: Any = found.set_exception
            value: Any = error
        else:
            resolve, value = found.set_result, infos
        with suppress(RuntimeError):  # the loop has ended first
            self.call_soon_threadsafe(resolve, value)
