"""tracefork's tapes: SQLite files of schema 1 and 2, and TFTAPE envelopes of versions 1 to 6.

They hold the bodies of calls to models and tools, and draws of clock, uuid and the like; neither status nor
header fields nor instants, and URLs only from version 6 on. What a tape of ours cannot do without is filled
in, and a note says so. The digest that tracefork names a tape by is computed anew: SHA-256 over a line
`D:kind:value` for each draw, `X:hash:hash` for each call of a model and `T:hash:hash` for each of a tool.
"""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from faultwire.events import Delivery, Request
from faultwire.tape.import_._api import Elsewhere, Event, Exchanged, Found
from faultwire.tape.import_._clean import name_of
from faultwire.tape.import_._source import dumped, opened, whole
from faultwire.tape.import_._tracefork_files import SQLITE, Contents, envelope, sqlite

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from faultwire.tape.import_._api import Item

_HOST = "tracefork.invalid"
"""RFC 2606 §2: a name that is nobody's, where the tape does not say who was asked."""
_FILLED = (
    "the tape holds bodies only: method, status 200, content types and instants are filled in, "
    f"and so are addresses at {_HOST}"
)


def read(path: Path, digest: str | None = None) -> Iterator[Item]:
    """The calls on a tracefork tape. `digest` is what a receipt says of it: all of it, or its beginning.

    Raises TapeError where it is none.
    """
    found: list[Found] = []
    with opened(path) as source:
        is_sqlite = source.read(len(SQLITE)) == SQLITE
    with sqlite(path, found) if is_sqlite else envelope(whole(path), found) as contents:
        yield from _problems(contents, found, digest)


def _problems(contents: Contents, found: list[Found], digest: str | None) -> Iterator[Item]:
    session = name_of(contents.agent) or "tracefork"
    for number, (kind, value) in enumerate(contents.draws()):
        yield Event(session, "tracefork", f"draw:{kind}", dumped({"kind": kind, "value": value}), number)
    yield Event(session, "tracefork", "header", dumped(contents.about))
    for number, (pair, url) in enumerate(contents.calls()):
        bodies = [contents.blob(name) for name in pair]
        for name, body in zip(pair, bodies, strict=True):
            if body is None:
                text = f"call {number} names blob `{name[:80]}`, and the tape does not hold it"
                yield Found("tracefork_blob_missing", text)
        yield Exchanged(_call(bodies[0], bodies[1], url), session)
        yield from _drain(found)
    for number, pair in enumerate(contents.tool_calls()):
        bodies = [contents.blob(name) for name in pair]
        if None in bodies:
            yield Found("tracefork_blob_missing", f"tool call {number} names a blob that is not on the tape")
        yield Exchanged(_call(bodies[0], bodies[1], f"http://{_HOST}/mcp"), session)
        yield from _drain(found)
    yield from _drain(found)
    yield from _judged(contents, digest)


def _judged(contents: Contents, digest: str | None) -> Iterator[Found]:
    """What the digest says, and what this tape leaves open."""
    computed = _digest(contents)
    yield Found("tracefork_digest", f"its digest is {computed}", note=True)
    for what, stated in (("the tape", contents.digest), ("the receipt", digest)):
        if stated and not (len(stated) >= 16 and computed.startswith(stated.lower())):
            yield Found("tracefork_digest_mismatch", f"{what} says that its digest is {stated[:80]}")
    for what, claimed, held in contents.claims:
        if claimed != held:
            yield Found("tracefork_count_mismatch", f"the tape claims {claimed} {what}, and holds {held}")
    if contents.redacted:
        redacted = "tracefork redacted contents before it hashed them: the bodies are not what was sent"
        yield Found("tracefork_content_redacted", redacted, note=True)
    yield Found("tracefork_no_heads", _FILLED, note=True)


def _digest(contents: Contents) -> str:
    """As tracefork computes it. A draw with a line end in it can be mistaken for two: nothing here relies
    on it but the comparison."""
    running = hashlib.sha256()
    for kind, value in contents.draws():
        running.update(f"D:{kind}:{value}\n".encode("utf-8", "surrogatepass"))
    for (request, response), _ in contents.calls():
        running.update(f"X:{request}:{response}\n".encode("utf-8", "surrogatepass"))
    for request, response in contents.tool_calls():
        running.update(f"T:{request}:{response}\n".encode("utf-8", "surrogatepass"))
    return running.hexdigest()


def _call(asked: bytes | None, answered: bytes | None, url: str | None) -> Elsewhere:
    host, port, path, scheme = _HOST, 80, "/", "http"
    if url:
        try:
            parts = urlsplit(url)
            host, scheme = parts.hostname or _HOST, parts.scheme or "https"
            port = parts.port or (443 if scheme == "https" else 80)
            path = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
        except ValueError:
            host, port, path, scheme = _HOST, 80, "/", "http"
    request = Request("POST", scheme, host, port, path, _kind(asked or b""), asked)
    answer = None
    if answered is not None:
        chunks = ((len(answered), 0),) if answered else ()
        answer = Delivery(200, "", _kind(answered), answered, chunks)
    return Elsewhere(request, answer, answer, 0, 0, "complete" if answer else "upstream_aborted")


def _kind(body: bytes) -> tuple[tuple[str, str], ...]:
    """The content type that a body must have had."""
    start = body[:16].lstrip()
    if start.startswith((b"event:", b"data:", b":")):
        return (("content-type", "text/event-stream"),)
    return (("content-type", "application/json"),) if start[:1] in (b"{", b"[") else ()


def _drain(found: list[Found]) -> Iterator[Found]:
    while found:
        yield found.pop(0)
