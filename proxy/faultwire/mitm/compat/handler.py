"""How events reach mitmproxy's layers and commands leave them, for one client connection.

`FastHandler` does what mitmproxy's `server_event` does with less work: writes of one event to one
connection leave together, hooks whose handlers are plain functions run at once, and hooks that nobody
handles cost nothing. `SafeHandler` is mitmproxy's own with the same limits around it, used where the
self-test finds that this version does not behave as expected.
"""

from __future__ import annotations

import asyncio
import inspect
from collections import deque
from typing import TYPE_CHECKING, Any

from mitmproxy.proxy import commands, events
from mitmproxy.proxy.server import ConnectionIO

from faultwire.mitm.compat.limited_handler import LimitedHandler

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from mitmproxy.connection import Connection

    from faultwire.mitm.compat.hooks import Hooks


class SafeHandler(LimitedHandler):
    """mitmproxy's own event handling; slower, and correct on versions that we do not know."""

    async def server_event(self, event: events.Event) -> None:
        """Give an event to the layers and carry out their commands."""
        before = self.progress
        await super().server_event(event)
        if isinstance(event, events.DataReceived) and event.connection is self.client:
            self.watch_head(before)


class FastHandler(LimitedHandler):
    """The same with less work. Needs a loop without eager tasks: nothing here may be re-entered."""

    def __init__(self, *arguments: Any, hooks: Hooks) -> None:
        super().__init__(*arguments)
        self._hooks = hooks
        self._tasks: set[asyncio.Task[None]] = set()

    async def server_event(self, event: events.Event) -> None:
        """Give an event to the layers and carry out their commands; never suspends."""
        before = self.progress
        self.timeout_watchdog.register_activity()
        try:
            self._carry(event)
        except Exception as error:  # noqa: BLE001 - a layer that failed leaves nothing to go on with
            self.owner.crashed(self.client, error)
            self.abort()
            return
        if type(event) is events.DataReceived and event.connection is self.client:
            self.watch_head(before)

    def _carry(self, event: events.Event) -> None:
        todo: deque[events.Event] = deque((event,))
        out: dict[Connection, list[bytes]] = {}
        handle = self.layer.handle_event
        while todo:
            for command in handle(todo.popleft()):
                if type(command) is commands.SendData:
                    pieces = out.get(command.connection)
                    if pieces is None:
                        out[command.connection] = [command.data]
                    else:
                        pieces.append(command.data)
                elif isinstance(command, commands.StartHook):
                    if self._hooks[command.name]:
                        self._flush(out)
                        if not self._run_hook(command):
                            continue
                    if command.blocking:
                        todo.append(events.HookCompleted(command))
                else:
                    self._flush(out)
                    self._other(command)
            # A layer that has found its child replaces `handle_event` on itself.
            handle = self.layer.handle_event
        self._flush(out)

    def _flush(self, out: dict[Connection, list[bytes]]) -> None:
        for connection, pieces in out.items():
            transport = self.transports.get(connection)
            if transport is None or transport.writer is None or transport.writer.is_closing():
                continue
            transport.writer.write(pieces[0] if len(pieces) == 1 else b"".join(pieces))
        out.clear()

    def _other(self, command: commands.Command) -> None:
        if isinstance(command, commands.Log):
            return
        if isinstance(command, commands.OpenConnection):
            task = asyncio.create_task(self.open_connection(command))
            self.transports[command.connection] = ConnectionIO(handler=task)
        elif isinstance(command, commands.RequestWakeup):
            wakeup: asyncio.Task[None] = asyncio.create_task(self.wakeup(command))
            self.wakeup_timer.add(wakeup)
        elif isinstance(command, commands.CloseConnection):
            if command.connection in self.transports:
                half = isinstance(command, commands.CloseTcpConnection) and command.half_close
                self.close_connection(command.connection, half)
        else:
            raise TypeError(f"unexpected command `{type(command).__name__}`")

    def _run_hook(self, command: commands.StartHook) -> bool:
        """Call the handlers; False where one has to be awaited (the completion then comes later)."""
        (data,) = command.args()
        handlers = self._hooks[command.name]
        for at, handler in enumerate(handlers):
            result = handler(data)
            if result is not None and inspect.isawaitable(result):
                task = asyncio.create_task(self._await_hook(command, result, handlers[at + 1 :], data))
                self._tasks.add(task)
                task.add_done_callback(self._tasks.discard)
                return False
        return True

    async def _await_hook(
        self,
        command: commands.StartHook,
        first: Awaitable[None],
        rest: tuple[Callable[[Any], Awaitable[None] | None], ...],
        data: Any,
    ) -> None:
        try:
            with self.timeout_watchdog.disarm():
                await first
                await _call(rest, data)
        except Exception as error:  # noqa: BLE001 - as in `server_event`
            self.owner.crashed(self.client, error)
            self.abort()
            return
        if command.blocking:
            await self.server_event(events.HookCompleted(command))

    async def handle_hook(self, hook: commands.StartHook) -> None:
        """For the hooks that mitmproxy calls itself (connections that open and close)."""
        handlers = self._hooks[hook.name]
        if handlers:
            (data,) = hook.args()
            with self.timeout_watchdog.disarm():
                await _call(handlers, data)

    def log(self, *arguments: Any, **keywords: Any) -> None:
        """mitmproxy's chatter about connections; it may quote traffic, so it goes nowhere."""


async def _call(handlers: tuple[Callable[[Any], Awaitable[None] | None], ...], data: Any) -> None:
    for handler in handlers:
        result = handler(data)
        if result is not None and inspect.isawaitable(result):
            await result
