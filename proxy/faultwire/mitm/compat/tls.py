"""mitmproxy's TLS towards clients, with fewer and larger records."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mitmproxy.proxy.layers.tls import ClientTLSLayer

if TYPE_CHECKING:
    from collections.abc import Generator

    from mitmproxy.proxy import commands, events
    from mitmproxy.proxy.context import Context


class JoiningTls(ClientTLSLayer):
    """What one event makes us say leaves in one go; mitmproxy encrypts and sends every chunk alone."""

    def __init__(self, context: Context) -> None:
        super().__init__(context)
        self._unsent: list[bytes] = []

    def receive_handshake_data(
        self, data: bytes
    ) -> Generator[commands.Command, Any, tuple[bool, str | None]]:
        """Where a handshake fails, the client is sent the alert that says why; mitmproxy only hangs up."""
        done, error = yield from super().receive_handshake_data(data)
        if error is not None and self.tls is not None:
            yield from self.tls_interact()
        return done, error

    def event_to_child(self, event: events.Event) -> Generator[commands.Command, Any, None]:
        """Pass an event on and carry out what comes back, sends last and joined."""
        for command in super().event_to_child(event):
            if self._unsent:
                yield from self._send()
            yield command
        if self._unsent:
            yield from self._send()

    def send_data(self, data: bytes) -> Generator[commands.Command, Any, None]:
        """Called for each send of the layer above."""
        self._unsent.append(data)
        yield from ()

    def _send(self) -> Generator[commands.Command, Any, None]:
        data = b"".join(self._unsent)
        self._unsent.clear()
        yield from super().send_data(data)
