"""Every mitmproxy internal that we touch, for each version that we support.

Tested: 11.0.2 (the newest for Python 3.11) to 12.2.x. `check` runs at start-up: it refuses versions
that the rest cannot work with, and chooses mitmproxy's own event handling over ours where this
version does not behave as ours expects.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

from mitmproxy import version
from mitmproxy.proxy import commands, events, layer
from mitmproxy.proxy.layers import http as http_layer, tls as tls_layer

from faultwire.errors import FaultwireError
from faultwire.mitm.compat import http1, http2
from faultwire.mitm.compat.codes import BAD_GATEWAY, CANCEL, KILL
from faultwire.mitm.compat.destination import Captured
from faultwire.mitm.compat.handler import FastHandler, SafeHandler
from faultwire.mitm.compat.hooks import FaultwireWaitHook, Hooks, Pause
from faultwire.mitm.compat.http1 import BoundedHttp1Server, ResponsePieces, is_free
from faultwire.mitm.compat.http2_frames import Leaving, ReadOn, ResetStream
from faultwire.mitm.compat.leaves import LeafCertificates
from faultwire.mitm.compat.once_more import NewHttpConnection, Unanswered, Unprocessed, may_repeat
from faultwire.mitm.compat.tls import JoiningTls, UpstreamTls

if TYPE_CHECKING:
    from collections.abc import Generator

__all__ = [
    "BAD_GATEWAY",
    "CANCEL",
    "KILL",
    "BoundedHttp1Server",
    "Captured",
    "FastHandler",
    "Hooks",
    "JoiningTls",
    "LeafCertificates",
    "Leaving",
    "NewHttpConnection",
    "ReadOn",
    "ResetStream",
    "ResponsePieces",
    "SafeHandler",
    "Unanswered",
    "Unprocessed",
    "UpstreamTls",
    "check",
    "fast_handler_works",
    "install",
    "is_free",
    "may_repeat",
]

FLOOR = (11, 0, 2)

_NEEDED: tuple[tuple[Any, tuple[str, ...]], ...] = (
    (
        http_layer.HttpStream,
        (
            "state_wait_for_request_headers",
            "state_uninitialized",
            "state_done",
            "state_errored",
            "handle_protocol_error",
            "handle_event",
            "passthrough",
            "send_response",
            "flow_done",
            "check_killed",
            "_handle_event",
        ),
    ),
    (http_layer.HttpLayer, ("make_stream", "get_connection", "event_to_child", "_handle_event")),
    (http_layer, ("GetHttpConnection", "SendHttp", "DropStream", "Http1Client")),
    (http1.BoundedHttp1Server, ("read_headers", "done", "mark_done")),
    (
        http2.GoawayAware,
        (
            "_receive_goaway_frame",
            "_stream_is_closed_by_reset",
            "open_inbound_streams",
            "open_outbound_streams",
        ),
    ),
    (http2.PatientHttp2Client, ("close_connection", "done", "is_closed")),
    (layer.Layer, ("handle_event",)),
    (JoiningTls, ("event_to_child", "send_data")),
    (UpstreamTls, ("event_to_child", "receive_close")),
    (tls_layer, ("ServerTLSLayer",)),
)


def check() -> None:
    """Raises FaultwireError where this mitmproxy is too old, or lacks what we build on."""
    found = tuple(int(part) for part in version.VERSION.split(".")[:3] if part.isdigit())
    if found < FLOOR:
        raise FaultwireError(
            f"found mitmproxy `{version.VERSION}`, expected `{'.'.join(map(str, FLOOR))}` or newer",
            code="engine.mitmproxy",
            hint="install faultwire into an environment of its own, for example with `pipx`",
        )
    wanted = [(owner, name) for owner, names in _NEEDED for name in names]
    missing = [f"{owner.__name__}.{name}" for owner, name in wanted if not hasattr(owner, name)]
    if missing:
        raise FaultwireError(
            f"mitmproxy `{version.VERSION}` has no `{missing[0]}`",
            code="engine.mitmproxy",
            hint="install mitmproxy 12.2, the newest version that faultwire was tested with",
        )


def install() -> None:
    """Install our fixes for HTTP/1, HTTP/2 and TLS."""
    http1.install()
    http2.install()
    tls_layer.ServerTLSLayer = UpstreamTls  # type: ignore[misc]


# ---------------------------------------------------------------- self-test


class _Probe(layer.Layer):
    """Yields each kind of command that the fast handler must carry out."""

    seen: list[str]

    def __init__(self, context: Any) -> None:
        super().__init__(context)
        self.seen = []

    def _handle_event(self, event: events.Event) -> Generator[commands.Command, Any, None]:
        self.seen.append(type(event).__name__)
        if isinstance(event, events.Start):
            yield commands.SendData(self.context.client, b"one ")
            yield commands.SendData(self.context.client, b"two")
            yield commands.Log("not shown")
            yield FaultwireWaitHook(Pause(self.context.client, 0))
            yield commands.SendData(self.context.client, b"three")
            self.seen.append("resumed")


class _Owner:
    head_timeout_s = handshake_s = 10.0
    slow_heads = half_open = 0

    def __init__(self) -> None:
        self.error: BaseException | None = None
        self.stats = self

    def crashed(self, client: Any, error: BaseException) -> None:
        self.error = error

    def lags(self) -> bool:
        return False

    async def room(self) -> None:
        return None


class _Waiter:
    async def faultwire_wait(self, pause: Pause) -> None:
        await pause.last()


class _Writer:
    def __init__(self) -> None:
        self.writes: list[bytes] = []

    def write(self, data: bytes) -> None:
        self.writes.append(data)

    def is_closing(self) -> bool:
        return False

    def get_extra_info(self, name: str, default: Any = None) -> Any:
        return ("127.0.0.1", 1) if name in ("peername", "sockname") else default


async def fast_handler_works(master: Any, mode: Any) -> bool:
    """Does the fast handler treat this version's layers as they expect?"""
    if asyncio.get_running_loop().get_task_factory() is not None:
        return False
    known = {
        "Command",
        "RequestWakeup",
        "ConnectionCommand",
        "SendData",
        "OpenConnection",
        "CloseConnection",
        "CloseTcpConnection",
        "StartHook",
        "Log",
    }
    defined = {
        name
        for name, value in vars(commands).items()
        if isinstance(value, type) and issubclass(value, commands.Command)
    }
    if defined != known:
        return False
    owner, writer = _Owner(), _Writer()
    handler = FastHandler(master, None, writer, master.options, mode, owner, hooks=Hooks([_Waiter()]))
    probe = _Probe(handler.layer.context)
    handler.layer = probe
    await handler.server_event(events.Start())
    for task in list(handler._tasks):
        await task
    joined = writer.writes == [b"one two", b"three"]
    return owner.error is None and joined and probe.seen == ["Start", "resumed"]
