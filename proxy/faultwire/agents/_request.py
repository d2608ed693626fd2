"""An HTTP/1.1 request as bytes, as it is or changed: no socket, no mending.

A change is performed as it stands. What it says may be no valid HTTP at all; that is its purpose.
"""

from __future__ import annotations

import json
from base64 import b64encode
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING
from urllib.parse import SplitResult, quote, unquote, urlencode

from faultwire.events import header, with_header

if TYPE_CHECKING:
    from collections.abc import Sequence

    from faultwire.events import Headers
    from faultwire.mutations._request import RequestChange

PADDING, NESTED = "padding", "nested"
"""The members that a body is made bigger and deeper with."""
PIECE = 1 << 16


@dataclass(frozen=True, slots=True)
class Call:
    """One request. `target` is path and query; `headers` lack only those that frame the body."""

    method: str
    tls: bool
    host: str
    port: int
    target: str
    headers: Headers = ()
    body: bytes = b""


def call(
    method: str,
    url: SplitResult,
    query: Sequence[tuple[str, str]] = (),
    headers: Headers = (),
    body: bytes = b"",
) -> Call:
    """A request to a URL with a host. `query` is added to the URL's own."""
    path = quote(url.path, safe="/%:@!$&'()*+,;=~-._") or "/"
    fields = "&".join(filter(None, (url.query, urlencode(query))))
    host = url.hostname or ""
    tls = url.scheme == "https"
    port = url.port or (443 if tls else 80)
    usual = {"accept": "*/*", "accept-encoding": "identity", "connection": "close"}
    sent: Headers = headers if header(headers, "host") else (("host", authority(url)), *headers)
    sent = (*sent, *((name, value) for name, value in usual.items() if header(headers, name) is None))
    if url.username and header(headers, "authorization") is None:
        user = f"{unquote(url.username)}:{unquote(url.password or '')}"
        sent = (*sent, ("authorization", f"Basic {b64encode(user.encode()).decode()}"))
    return Call(method, tls, host, port, f"{path}?{fields}" if fields else path, sent, body)


def authority(url: SplitResult) -> str:
    """Host and port, without the user."""
    return url.netloc.rpartition("@")[2]


def pieces(call: Call, change: RequestChange | None = None) -> list[bytes]:
    """The bytes to send, in the pieces in which they are to leave."""
    if change is None:
        return [_head(call, call.headers, "HTTP/1.1", len(call.body)) + call.body]
    body = _grown(call.body, change)
    headers = call.headers
    if change.content_type is not None:
        headers = with_header(headers, "content-type", change.content_type)
    called = replace(call, method=change.method or call.method, target=_target(call.target, change.query))
    version = change.http_version or "HTTP/1.1"
    added = change.headers
    if not change.chunk_bytes:
        return [_head(called, (*headers, *added), version, len(body)) + body]
    framed: Headers = (*headers, ("transfer-encoding", "chunked"), *added)
    head = _head(called, framed, version, len(body) if change.both_lengths else None)
    size = change.chunk_bytes
    chunks = [body[at : at + size] for at in range(0, len(body), size)]
    return [head, *(b"%x\r\n%s\r\n" % (len(chunk), chunk) for chunk in chunks), b"0\r\n\r\n"]


def _head(call: Call, headers: Headers, version: str, length: int | None) -> bytes:
    lines = [f"{call.method} {call.target} {version}", *(f"{name}: {value}" for name, value in headers)]
    bodiless = call.method in ("GET", "HEAD", "DELETE", "OPTIONS") and not length
    if length is not None and not bodiless and header(call.headers, "content-length") is None:
        lines.append(f"content-length: {length}")
    return _bytes("\r\n".join(lines) + "\r\n\r\n")


def _bytes(text: str) -> bytes:
    """Latin-1, as header fields are; a character that this cannot say goes as UTF-8."""
    try:
        return text.encode("latin-1")
    except UnicodeEncodeError:
        return text.encode("utf-8", "surrogatepass")


def _target(target: str, query: Sequence[tuple[str, str]]) -> str:
    if not query:
        return target
    return f"{target}{'&' if '?' in target else '?'}{urlencode(query)}"


def _grown(body: bytes, change: RequestChange) -> bytes:
    """The body with what it is to have more; one that is no JSON object gets it behind its end."""
    opening = _open_object(body)
    if change.nested:
        deep = b"[" * change.nested + b"]" * change.nested
        body = body + deep if opening is None else opening + b'"%s":%s}' % (NESTED.encode(), deep)
        opening = None if opening is None else body[:-1] + b","
    if change.pad_bytes:
        padded = b'"%s":"%s"}' % (PADDING.encode(), b"x" * change.pad_bytes)
        body = body + b" " * change.pad_bytes if opening is None else opening + padded
    return body


def _open_object(body: bytes) -> bytes | None:
    """A JSON object up to where another member may stand, None where the body is none."""
    try:
        document = json.loads(body)
    except (ValueError, RecursionError):
        return None
    if not isinstance(document, dict):
        return None
    return body.rstrip()[:-1] + (b"," if document else b"")
