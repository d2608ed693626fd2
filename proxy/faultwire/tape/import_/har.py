"""HAR 1.2 (w3c.github.io/web-performance/specs/HAR), as browsers, mitmproxy and our own export write it.

Bodies in a HAR have no content codings any more although their header fields still name them; such a
field goes. WebSocket messages are in `_webSocketMessages`, as Chromium and mitmproxy write them; `_upstream`
and `_ending` are our own. The ledger (`_faults`) is not taken over: it proves something only on the tape.
"""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING, Any, cast
from urllib.parse import urlsplit

from faultwire.events import Delivery, Message, Request
from faultwire.tape.import_._api import SESSION, Elsewhere, Exchanged, Found
from faultwire.tape.import_._clean import instant
from faultwire.tape.import_._har_body import Malformed, content, posted, unbase64, unwrapped
from faultwire.tape.import_._har_entries import Entries
from faultwire.tape.import_._source import parsed, whole

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from faultwire.events import Headers
    from faultwire.tape.import_._api import Item

Json = dict[str, Any]
_PORTS = {"http": 80, "ws": 80, "https": 443, "wss": 443}
_MAX_MESSAGES = 1_000_000


def read(path: Path) -> Iterator[Item]:
    """The entries of a HAR. Raises TapeError where it is none, or ends before its entries do."""
    entries = Entries(whole(path))
    for number, text in enumerate(entries):
        if number == 0 and entries.version not in ("1.1", "1.2"):
            yield Found("har_version", f"the log has version {entries.version!r}, expected 1.2")
        yield from _entry(number, text)


def _entry(number: int, text: bytes) -> Iterator[Item]:
    found: list[Found] = []
    try:
        yield _exchange(parsed(text), found)
    except (KeyError, TypeError, ValueError, AttributeError, OverflowError) as error:
        found = [Found("har_entry_malformed", f"it is left out: {error!r}"[:300])]
    for one in found:
        yield Found(one.code, f"entry {number}: {one.message}", one.note)


def _exchange(entry: Any, found: list[Found]) -> Exchanged:
    began_ms = _began_ms(entry.get("startedDateTime"), found)
    timings = _object(entry.get("timings"))
    total = _ms(entry.get("time")) or sum(map(_ms, timings.values()))
    before = sum(_ms(timings.get(name)) for name in ("blocked", "dns", "connect", "send", "wait"))
    delivered = _response(entry.get("response"), _ns(min(before, total) if total else before), found)
    upstream = delivered
    if "_upstream" in entry:
        upstream = _response(entry["_upstream"], _ns(min(before, total)), found)
    error = _error(entry)
    foreign = Elsewhere(
        request=_request(entry["request"], found),
        upstream=upstream,
        delivered=delivered,
        started_ms=began_ms,
        duration_ns=_ns(total),
        ending=_ending(entry, delivered, error),
        error=error,
        messages=_messages(entry.get("_webSocketMessages"), began_ms, found),
    )
    session = entry.get("pageref")
    return Exchanged(foreign, session if isinstance(session, str) and session else SESSION)


def _request(entry: Json, found: list[Found]) -> Request:
    url = urlsplit(_text(entry["url"]).strip())
    if not url.hostname:
        raise ValueError(f"a request to {entry['url']!r}")
    headers = _headers(entry.get("headers"))
    body = None
    if entry.get("postData"):
        try:
            body, packed = posted(_object(entry["postData"]), found)
            headers = unwrapped(headers, body, packed=packed)
        except Malformed as error:
            found.append(Found("har_content_malformed", f"the request's body is no {error}"))
    return Request(
        _text(entry.get("method") or "GET"),
        url.scheme,
        url.hostname,
        url.port or _PORTS.get(url.scheme, 80),
        (url.path or "/") + (f"?{url.query}" if url.query else ""),
        headers,
        body,
    )


def _response(entry: Any, at_ns: int, found: list[Found]) -> Delivery | None:
    """A response; status 0 is how browsers say that there was none."""
    entry = _object(entry)
    status = entry.get("status")
    if isinstance(status, str) and status.isascii() and status.isdigit():
        status = int(status[:4])
    if not isinstance(status, (int, float)) or status <= 0:
        return None
    if status > 999 or status != int(status):
        found.append(Found("har_status", f"the response has status {str(status)[:30]}"))
        return None
    headers = _headers(entry.get("headers"))
    try:
        body, packed = content(_object(entry.get("content")), headers, found)
    except Malformed as error:
        found.append(Found("har_content_malformed", f"the response's body is no {error}"))
        body, packed = b"", False
    chunks = ((len(body), at_ns),) if body else ()
    headers = unwrapped(headers, body, packed=packed)
    return Delivery(int(status), _text(entry.get("statusText") or ""), headers, body, chunks)


def _ending(entry: Json, delivered: Delivery | None, error: str | None) -> str:
    """Our own exports say it; of others only an exchange without a response is known to have broken off."""
    if isinstance(entry.get("_ending"), str):
        return cast(str, entry["_ending"])
    if delivered is not None:
        return "complete"
    return "client_aborted" if error is not None and "ABORTED" in error else "upstream_aborted"


def _error(entry: Json) -> str | None:
    """Why there is no response: Chromium and mitmproxy say it in a member of their own."""
    error = _object(entry.get("response")).get("_error")
    return error if isinstance(error, str) and error else None


def _messages(entry: Any, began_ms: int, found: list[Found]) -> tuple[Message, ...]:
    if not isinstance(entry, list):
        return ()
    messages: list[Message] = []
    for one in entry[:_MAX_MESSAGES]:
        try:
            messages.append(_message(one, began_ms))
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            found.append(Found("har_message_malformed", f"a WebSocket message is left out: {error!r}"[:300]))
    return tuple(messages)


def _message(one: Json, began_ms: int) -> Message:
    opcode = one.get("opcode", 1)
    if opcode not in (1, 2, 8):
        raise ValueError(f"opcode {opcode!r}")
    text = _text(one.get("data") or "")
    at_ns = _ns(float(one.get("time") or 0) * 1000 - began_ms)
    data = text.encode("utf-8", "replace") if opcode == 1 else unbase64(text)
    return Message(
        by="client" if one.get("type") == "send" else "server",
        kind="text" if opcode == 1 else "binary" if opcode == 2 else "close",
        data=data,
        sent_ns=at_ns,
        delivered_ns=at_ns if one.get("_delivered", True) else None,
        code=1005 if opcode == 8 else None,
    )


# ---------------------------------------------------------------- values


def _headers(entry: Any) -> Headers:
    """Header fields; those of HTTP/2 that begin with a colon say nothing that the request does not."""
    if not isinstance(entry, list):
        return ()
    pairs = ((one.get("name"), one.get("value")) for one in entry if isinstance(one, dict))
    return tuple(
        (name, value if isinstance(value, str) else "")
        for name, value in pairs
        if isinstance(name, str) and name and not name.startswith(":")
    )


def _began_ms(entry: Any, found: list[Found]) -> int:
    try:
        return instant(datetime.fromisoformat(_text(entry)).timestamp() * 1000)
    except (ValueError, TypeError, OverflowError):
        found.append(Found("har_time", f"it began at {entry!r}"[:120], note=True))
        return 0


def _ms(value: Any) -> float:
    """A duration; HAR says -1 for what does not apply."""
    return float(value) if isinstance(value, (int, float)) and 0 < value < 1e15 else 0.0


def _ns(ms: float) -> int:
    return instant(ms * 1e6, 1 << 53)


def _object(value: Any) -> Json:
    return value if isinstance(value, dict) else {}


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError(f"found {type(value).__name__}, expected text")
    return value
