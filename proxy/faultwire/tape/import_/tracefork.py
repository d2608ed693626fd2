"""tracefork's tapes: SQLite files of schema 1 to 3, TFTAPE envelopes of versions 1 to 7, and stores of many.

They hold the bodies of calls to models and tools, and draws of clock, uuid and the like; URLs from envelope 6
and schema 3 on, status and content type from envelope 7 and schema 3 on; neither header fields nor instants.
What a tape of ours cannot do without is filled in, and a note says so. The digest that tracefork names a tape
by is computed anew: SHA-256 over a line `D:kind:value` for each draw, `X:hash:hash` for each call of a model
and `T:hash:hash` for each of a tool. From 1.0.0 on the line of a draw holds the SHA-256 of kind and value.
"""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from faultwire.events import Delivery, Request
from faultwire.tape.import_._api import Elsewhere, Event, Exchanged, Found
from faultwire.tape.import_._clean import name_of
from faultwire.tape.import_._source import dumped, opened, whole
from faultwire.tape.import_._tracefork_address import address
from faultwire.tape.import_._tracefork_files import Call, Contents, envelope
from faultwire.tape.import_._tracefork_sqlite import SQLITE, is_store, sqlite
from faultwire.tape.import_._tracefork_store import runs

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from faultwire.tape.import_._api import Item

_HOST = "tracefork.invalid"
"""RFC 2606 §2: a name that is nobody's, where the tape does not say who was asked."""
_FILLED = (
    "the tape holds no methods, header fields and instants: they are filled in. A call without a status has "
    f"status 200, and one whose address nothing tells is at {_HOST}"
)


def read(path: Path, digest: str | None = None, host: str | None = None) -> Iterator[Item]:
    """The calls on a tracefork tape, or of every tape in a store. `digest` is what a receipt says of the
    tape: all of it, or its beginning. `host` is who was asked where the tape holds no URL; by default it
    is the default host of the SDK that the bodies are of.

    Raises TapeError where it is none.
    """
    found: list[Found] = []
    with opened(path) as source:
        is_sqlite = source.read(len(SQLITE)) == SQLITE
    if is_sqlite and is_store(path):
        fitting: set[str] = set()
        for run, tape in runs(path, found):
            yield from _items(tape, found, None, host, run)
            fitting |= _digests(tape)
        yield from _drain(found)
        yield from _disagrees("the receipt", digest, fitting)  # it is of one of the runs
        return
    with sqlite(path, found) if is_sqlite else envelope(whole(path), found) as contents:
        yield from _items(contents, found, digest, host, contents.agent)


def _items(
    contents: Contents, found: list[Found], digest: str | None, host: str | None, name: str
) -> Iterator[Item]:
    session = name_of(name) or "tracefork"
    for number, (kind, value) in enumerate(contents.draws()):
        yield Event(session, "tracefork", f"draw:{kind}", dumped({"kind": kind, "value": value}), number)
    yield Event(session, "tracefork", "header", dumped(contents.about))
    inferred: set[str] = set()
    for number, call in enumerate(contents.calls()):
        bodies = [contents.blob(one) for one in call.pair]
        for one, body in zip(call.pair, bodies, strict=True):
            if body is None:
                text = f"call {number} names blob `{one[:80]}`, and the tape does not hold it"
                yield Found("tracefork_blob_missing", text)
        if call.status is not None and not 100 <= call.status <= 599:
            text = f"call {number} has status {str(call.status)[:20]}, expected 100 to 599"
            yield Found("tracefork_status_malformed", text)
            call = call._replace(status=None)
        if not call.url:
            call = call._replace(url=address(bodies[0], bodies[1], host, oldest=contents.oldest))
            inferred.add(urlsplit(call.url or f"http://{_HOST}").hostname or _HOST)
        yield Exchanged(_call(bodies[0], bodies[1], call), session)
        yield from _drain(found)
    for number, pair in enumerate(contents.tool_calls()):
        bodies = [contents.blob(one) for one in pair]
        if None in bodies:
            yield Found("tracefork_blob_missing", f"tool call {number} names a blob that is not on the tape")
        yield Exchanged(_call(bodies[0], bodies[1], Call(pair, f"http://{_HOST}/mcp")), session)
        yield from _drain(found)
    if inferred:
        how = "as --host says" if host else "the default of the SDK that sends such bodies"
        text = f"the tape holds no URL for some calls: their host is {', '.join(sorted(inferred))}, {how}"
        yield Found("tracefork_host", text, note=True)
    yield from _drain(found)
    yield from _judged(contents, digest)


def _judged(contents: Contents, digest: str | None) -> Iterator[Found]:
    """What the digest says, and what this tape leaves open."""
    fitting = _digests(contents)
    computed = _digest(contents, framed=contents.framed)
    yield Found("tracefork_digest", f"its digest is {computed}", note=True)
    for what, stated in (("the tape", contents.digest), ("the receipt", digest)):
        yield from _disagrees(what, stated, fitting)
    for what, claimed, held in contents.claims:
        if claimed != held:
            yield Found("tracefork_count_mismatch", f"the tape claims {claimed} {what}, and holds {held}")
    if contents.redacted:
        redacted = "tracefork redacted contents before it hashed them: the bodies are not what was sent"
        yield Found("tracefork_content_redacted", redacted, note=True)
    yield Found("tracefork_no_heads", _FILLED, note=True)


def _disagrees(what: str, stated: str | None, fitting: set[str]) -> Iterator[Found]:
    """Where a digest that something states is, or begins, none of these."""
    if stated and not (len(stated) >= 16 and any(one.startswith(stated.lower()) for one in fitting)):
        yield Found("tracefork_digest_mismatch", f"{what} says that its digest is {stated[:80]}")


def _digests(contents: Contents) -> set[str]:
    """What a receipt may call a tape: one of 1.0.0 names an older tape by the later framing."""
    return {_digest(contents, framed=contents.framed), _digest(contents, framed=True)}


def _digest(contents: Contents, *, framed: bool) -> str:
    """As tracefork computes it, before 1.0.0 or (`framed`) since. Before, a draw with a line end in it can be
    mistaken for two: nothing here relies on it but the comparison."""
    running = hashlib.sha256()
    for kind, value in contents.draws():
        if framed:
            kind, value = _hashed(kind), _hashed(value)
        running.update(f"D:{kind}:{value}\n".encode("utf-8", "surrogatepass"))
    for (request, response), *_ in contents.calls():
        running.update(f"X:{request}:{response}\n".encode("utf-8", "surrogatepass"))
    for request, response in contents.tool_calls():
        running.update(f"T:{request}:{response}\n".encode("utf-8", "surrogatepass"))
    return running.hexdigest()


def _hashed(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def _call(asked: bytes | None, answered: bytes | None, call: Call) -> Elsewhere:
    host, port, path, scheme = _HOST, 80, "/", "http"
    if call.url:
        try:
            parts = urlsplit(call.url)
            host, scheme = parts.hostname or _HOST, parts.scheme or "https"
            port = parts.port or (443 if scheme == "https" else 80)
            path = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
        except ValueError:
            host, port, path, scheme = _HOST, 80, "/", "http"
    request = Request("POST", scheme, host, port, path, _kind(asked or b""), asked)
    answer = None
    if answered is not None:
        chunks = ((len(answered), 0),) if answered else ()
        kind = (("content-type", call.content_type),) if call.content_type else _kind(answered)
        answer = Delivery(200 if call.status is None else call.status, "", kind, answered, chunks)
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
