"""Tapes as mitmproxy flow files, and back: `mitmweb -r FILE` opens what `tape export --to flows` wrote.

Written and read with mitmproxy's own `FlowWriter` and `FlowReader`, so the format is that of the installed
version; older files are migrated by mitmproxy as it reads them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, BinaryIO

from mitmproxy import connection, flow, http, websocket
from mitmproxy.exceptions import FlowReadException
from mitmproxy.io import FlowReader, FlowWriter
from wsproto.frame_protocol import Opcode

from faultwire.errors import TapeError
from faultwire.events import Delivery, Message, Request
from faultwire.mitm.messages.convert import fields_of, headers_of
from faultwire.tape.read.reader import TapeReader

if TYPE_CHECKING:
    from collections import Counter
    from collections.abc import Iterator
    from pathlib import Path

    from faultwire.events import Recorded

UNIT = "exchanges"


def write(path: Path, out: BinaryIO) -> int:
    """Write the tape at `path` as flows; the number of exchanges. Raises TapeError.

    The flow's response is what the client got; what faults did is in its comment.
    """
    writer = FlowWriter(out)
    count = 0
    with TapeReader.open(path) as reader:
        for recorded in reader.exchanges():
            writer.add(_flow(recorded))
            count += 1
    return count


def _flow(recorded: Recorded) -> http.HTTPFlow:
    request = recorded.request
    began = recorded.started_ms / 1000
    client = connection.Client(peername=("127.0.0.1", 0), sockname=("127.0.0.1", 0), timestamp_start=began)
    server = connection.Server(address=(request.host, request.port))
    made = http.HTTPFlow(client, server)
    made.request = http.Request(
        host=request.host,
        port=request.port,
        method=request.method.encode("utf-8", "replace"),
        scheme=request.scheme.encode(),
        authority=b"",
        path=request.path.encode("utf-8", "surrogateescape"),
        http_version=b"HTTP/1.1",
        headers=fields_of(request.headers),
        content=request.body or b"",
        trailers=None,
        timestamp_start=began,
        timestamp_end=began,
    )
    made.timestamp_created = began
    made.comment = "; ".join(
        f"{fault.fault}: {fault.effect or fault.reason}"
        for fault in recorded.faults
        if fault.outcome == "fired"
    )
    made.metadata["faultwire_session"] = recorded.session
    if recorded.delivered is not None:
        made.response = _response(recorded.delivered, began, recorded.duration_ms / 1000)
    if recorded.ending not in ("complete", "open"):
        made.error = flow.Error(recorded.error or recorded.ending, began + recorded.duration_ms / 1000)
    if recorded.messages:
        made.websocket = websocket.WebSocketData(
            [_message(m, began) for m in recorded.messages if m.kind != "close"]
        )
    return made


def _response(delivery: Delivery, began: float, lasted: float) -> http.Response:
    first = min((at for _, at in delivery.chunks), default=0) / 1e9
    return http.Response(
        http_version=b"HTTP/1.1",
        status_code=delivery.status,
        reason=delivery.reason.encode("latin-1", "replace"),
        headers=fields_of(delivery.headers),
        content=delivery.body,
        trailers=fields_of(delivery.trailers) if delivery.trailers else None,
        timestamp_start=began + first,
        timestamp_end=began + lasted,
    )


def _message(message: Message, began: float) -> websocket.WebSocketMessage:
    at_ns = message.sent_ns if message.sent_ns is not None else message.delivered_ns or 0
    return websocket.WebSocketMessage(
        Opcode.TEXT if message.kind == "text" else Opcode.BINARY,
        message.by == "client",
        message.data,
        began + at_ns / 1e9,
        dropped=message.delivered_ns is None,
    )


# ---------------------------------------------------------------- reading


@dataclass(frozen=True, slots=True)
class FlowFileExchange:
    """One exchange of a flow file. Instants are seconds since the epoch, `error` why it ended early."""

    request: Request
    response: Delivery | None
    began_s: float
    lasted_s: float
    error: str | None = None
    messages: tuple[Message, ...] = ()
    session: str | None = None
    """Where a tape of ours was exported."""


_MALFORMED = (
    *(FlowReadException, ValueError, TypeError, KeyError, AttributeError, IndexError),
    *(RecursionError, OverflowError, AssertionError),
)
"""What mitmproxy raises where a flow does not have the shape of one."""


def read(source: BinaryIO, others: Counter[str] | None = None) -> Iterator[FlowFileExchange]:
    """The HTTP exchanges of a flow file, in order; `others` counts flows of other types.

    Raises TapeError where it is none, or is cut short.
    """
    try:
        for one in FlowReader(source).stream():
            if isinstance(one, http.HTTPFlow):
                yield _dumped(one)
            elif others is not None:
                others[str(one.type)[:40]] += 1
    except _MALFORMED as error:
        raise TapeError(f"found no readable mitmproxy flow: {error}", code="tape.import") from error


def _dumped(one: http.HTTPFlow) -> FlowFileExchange:
    request, response = one.request, one.response
    began = request.timestamp_start
    recorded_request = Request(
        request.method,
        request.scheme,
        request.pretty_host,
        request.port,
        request.path,
        headers_of(request.headers),
        request.raw_content or b"",
    )
    session = one.metadata.get("faultwire_session")
    ended = (response.timestamp_end if response else request.timestamp_end) or began
    return FlowFileExchange(
        recorded_request,
        _delivery(response, began) if response is not None else None,
        began,
        max(0.0, ended - began),
        str(one.error.msg) if one.error else None,
        tuple(_frame(message, began) for message in one.websocket.messages) if one.websocket else (),
        session if isinstance(session, str) else None,
    )


def _frame(message: websocket.WebSocketMessage, began: float) -> Message:
    at_ns = max(0, int((message.timestamp - began) * 1e9))
    return Message(
        by="client" if message.from_client else "server",
        kind="text" if message.is_text else "binary",
        data=bytes(message.content),
        sent_ns=at_ns,
        delivered_ns=None if message.dropped else at_ns,
    )


def _delivery(response: http.Response, began: float) -> Delivery:
    body = response.raw_content or b""
    first = max(0, int((response.timestamp_start - began) * 1e9))
    return Delivery(
        response.status_code,
        response.reason,
        headers_of(response.headers),
        body,
        ((len(body), first),) if body else (),
        headers_of(response.trailers) if response.trailers else (),
    )
