"""A tape as HAR 1.2 (w3c.github.io/web-performance/specs/HAR), for browsers' network panels.

What the client got is the entry's response; where a fault changed it, upstream's own response is in the
custom member `_upstream`, and what faults did in `_faults` (custom members begin with an underscore,
HAR 1.2 §2). WebSocket messages are in `_webSocketMessages`, as Chromium writes and reads them.
"""

from __future__ import annotations

from base64 import b64encode
from dataclasses import replace
from typing import TYPE_CHECKING, Any, BinaryIO
from urllib.parse import parse_qsl

import orjson

from faultwire._core import __version__
from faultwire.clock import iso
from faultwire.errors import WireError
from faultwire.events import header
from faultwire.tape.read.reader import TapeReader
from faultwire.wire.framing.content_coding import decoded

if TYPE_CHECKING:
    from pathlib import Path

    from faultwire.events import Delivery, Headers, Message, Recorded, Request

UNIT = "exchanges"
Json = dict[str, Any]


def write(path: Path, out: BinaryIO) -> int:
    """Write the tape at `path`, an entry at a time; the number of exchanges. Raises TapeError."""
    count = 0
    with TapeReader.open(path) as reader:
        creator = {"name": "faultwire", "version": __version__}
        pages = [_page(info.name, info.started_ms) for info in reader.sessions()]
        head = {"version": "1.2", "creator": creator, "pages": pages}
        out.write(b'{"log":' + orjson.dumps(head)[:-1] + b',"entries":[')
        for recorded in reader.exchanges():
            out.write((b",\n" if count else b"\n") + orjson.dumps(_entry(recorded), default=str))
            count += 1
        out.write(b"\n]}}\n")
    return count


def _page(session: str, started_ms: int) -> Json:
    timings: Json = {"onContentLoad": None, "onLoad": None}
    return {"startedDateTime": iso(started_ms), "id": session, "title": session, "pageTimings": timings}


def _entry(recorded: Recorded) -> Json:
    got = recorded.delivered
    first = min((at for _, at in got.chunks), default=None) if got else None
    wait = recorded.duration_ms if first is None else first / 1e6
    entry: Json = {
        "pageref": recorded.session,
        "startedDateTime": iso(recorded.started_ms),
        "time": recorded.duration_ms,
        "request": _request(recorded.request),
        "response": _response(got, recorded),
        "cache": {},
        "timings": {"send": 0, "wait": wait, "receive": max(0.0, recorded.duration_ms - wait)},
        "comment": " ".join(filter(None, (recorded.kind, recorded.provider, recorded.tool))),
        "_ending": recorded.ending,
    }
    if recorded.upstream is not None and recorded.upstream != got:
        entry["_upstream"] = _response(recorded.upstream, recorded)
    if recorded.faults:
        entry["_faults"] = [
            {"fault": one.fault, "outcome": one.outcome, "reason": one.reason, "effect": one.effect}
            for one in recorded.faults
        ]
    if recorded.messages:
        entry["_resourceType"] = "websocket"
        entry["_webSocketMessages"] = [
            _message(one, recorded.started_ms) for one in recorded.messages if one.kind != "close"
        ]
    return entry


def _request(request: Request) -> Json:
    body = request.body or b""
    if not request.path.startswith("/"):  # `OPTIONS *` is no part of a URL
        request = replace(request, path=f"/{request.path}")
    found: Json = {
        "method": request.method,
        "url": request.url,
        "httpVersion": "HTTP/1.1",
        "cookies": [],
        "headers": _headers(request.headers),
        "queryString": [
            {"name": name, "value": value}
            for name, value in parse_qsl(request.path.partition("?")[2], keep_blank_values=True)
        ],
        "headersSize": -1,
        "bodySize": len(body),
    }
    if body:
        kind = header(request.headers, "content-type") or "application/octet-stream"
        plain = _plain(body, request.headers)
        # `postData` has no member for an encoding: what is no text is marked in a comment.
        try:
            found["postData"] = {"mimeType": kind, "params": [], "text": plain.decode()}
        except UnicodeDecodeError:
            text = b64encode(body).decode()
            found["postData"] = {"mimeType": kind, "params": [], "text": text, "comment": "base64"}
    return found


def _response(delivery: Delivery | None, recorded: Recorded) -> Json:
    """HAR knows no exchange without a response: browsers write status 0 and say why in `_error`."""
    if delivery is None:
        why = recorded.error or recorded.ending
        content: Json = {"size": 0, "mimeType": "x-unknown"}
        empty = {"status": 0, "statusText": "", "httpVersion": "", "cookies": [], "headers": []}
        return {
            **empty,
            "content": content,
            "redirectURL": "",
            "headersSize": -1,
            "bodySize": -1,
            "_error": why,
        }
    return {
        "status": delivery.status,
        "statusText": delivery.reason,
        "httpVersion": "HTTP/1.1",
        "cookies": [],
        "headers": _headers(delivery.headers),
        "content": _content(delivery),
        "redirectURL": header(delivery.headers, "location") or "",
        "headersSize": -1,
        "bodySize": len(delivery.body),
    }


def _content(delivery: Delivery) -> Json:
    plain = _plain(delivery.body, delivery.headers)
    kind = header(delivery.headers, "content-type") or "x-unknown"
    try:
        return {"size": len(plain), "mimeType": kind, "text": plain.decode()}
    except UnicodeDecodeError:
        return {"size": len(plain), "mimeType": kind, "text": b64encode(plain).decode(), "encoding": "base64"}


def _plain(body: bytes, headers: Headers) -> bytes:
    """The body without its codings, as browsers write it; as it is, where it cannot be decoded whole."""
    try:
        plain, partial = decoded(body, headers)
    except WireError:
        return body
    return body if partial else plain


def _headers(headers: Headers) -> list[Json]:
    return [{"name": name, "value": value} for name, value in headers]


def _message(message: Message, started_ms: int) -> Json:
    at_ns = message.sent_ns if message.sent_ns is not None else message.delivered_ns or 0
    text = message.kind == "text"
    return {
        "type": "send" if message.by == "client" else "receive",
        "time": (started_ms + at_ns / 1e6) / 1000,
        "opcode": 1 if text else 2,
        "data": message.data.decode("utf-8", "replace") if text else b64encode(message.data).decode(),
        "_delivered": message.delivered_ns is not None,
    }
