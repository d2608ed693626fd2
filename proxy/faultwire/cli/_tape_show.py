"""Prints exchanges for `faultwire tape show`. Bodies and headers are untrusted and escaped.

An exchange with a model is shown as a conversation, others with their bodies; `--raw` prints bytes.
"""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import click

from faultwire.cli import _conversation as talk, _tape_foreign as foreign
from faultwire.cli.output import Format, columns, fields, say, show, show_json
from faultwire.clock import iso
from faultwire.errors import WireError
from faultwire.events import header
from faultwire.report.conversation import conversation_part, name_results, request_id
from faultwire.tape.read.call_identity import revoked
from faultwire.text import counted, safe
from faultwire.wire.framing.content_coding import decoded

if TYPE_CHECKING:
    from collections.abc import Iterable

    from faultwire.events import Delivery, FaultFired, Headers, Recorded
    from faultwire.tape.read.reader import Detail, Foreign, TapeReader

WHOLE = 1 << 30
"""A limit that no conversation on a tape reaches."""
ENDINGS = {
    "open": "the run ended first",
    "client_aborted": "the agent closed the connection",
    "upstream_aborted": "the server closed the connection",
    "cut": "cut off by a fault",
    "closed": "ended by a fault as if it were whole",
    "reset": "connection reset by a fault",
    "refused": "refused",
}


def findings(reader: TapeReader) -> bool:
    """Print on stderr what the tape says to its readers; is anything wrong with the file it was made from?"""
    found = list(reader.notes())
    for one in found:
        say(f"{'bad' if one.bad else 'note'} on the tape: {one.code}: {one.text}")
    return any(one.bad for one in found)


def show_all(reader: TapeReader, session: str | None, format_: Format) -> None:
    """Print a line for each exchange; with a single session, also its messages."""
    exchanges = reader.history(session).exchanges if session else reader.exchanges()
    foreign_events = reader.foreign(session) if "imported" in reader.info().settings else iter(())
    if format_ == "json":
        show_json([*(_summary(recorded) for recorded in exchanges), *map(foreign.entry, foreign_events)])
        return
    found = list(exchanges)
    _show_foreign(foreign_events)
    if not found:
        show("no exchanges")
        return
    header = ("session", "no", "kind", "request", "status", "ending", "bytes", "first byte", "fired")
    show(columns(header, [_row(_summary(recorded)) for recorded in found]))
    if session:
        parts = [_clean(conversation_part(recorded)) for recorded in found]
        name_results(parts, found)
        for recorded, part in zip(found, parts, strict=True):
            show("\n" + "\n".join(_lines_of(recorded, part)))


def _clean(part: dict[str, Any] | None) -> Any:
    """A conversation without secrets: the tape redacts message by message, and here the pieces of a streamed
    text stand joined."""
    from faultwire.report.text import redacted
    from faultwire.tape.redact.redactor import Redactor, fresh_key

    redactor = Redactor(fresh_key())
    return redacted(part, lambda text: redactor.text(text, {}))


def _show_foreign(foreign_events: Iterable[Foreign]) -> None:
    """The events of an imported log, under the sessions that they are of."""
    session = None
    for one in foreign_events:
        if one.session != session:
            session = one.session
            show(f"events of session {session}, as reported by {one.source}")
        show("\n".join(foreign.lines(one)))


def _lines_of(recorded: Recorded, part: dict[str, Any] | None) -> Iterable[str]:
    """One exchange of a session: the new messages of its request, and the response."""
    yield safe(f"{recorded.number}  {recorded.request.method} {recorded.request.url}")
    if part is not None:
        yield from talk.lines(part, only_new=True, tool=recorded.kind == "tool")
    yield from talk.messages(recorded.messages)
    yield from (f"  {safe(_ledger(fault))}" for fault in recorded.faults if fault.outcome == "fired")
    if recorded.ending != "complete":
        yield f"  {_ended(recorded)}"


def _ended(recorded: Recorded) -> str:
    """The description of an irregular ending."""
    why = f": {safe(recorded.error)}" if recorded.error else ""
    ending = ENDINGS.get(recorded.ending, recorded.ending)
    if recorded.http2 and recorded.ending == "reset":
        ending = "HTTP/2 stream reset by a fault"
    return f"{ending}{why}"


def _summary(recorded: Recorded) -> dict[str, Any]:
    got = recorded.delivered
    first_ns = got.chunks[0][1] if got and got.chunks else None
    return {
        "session": recorded.session,
        "number": recorded.number,
        "kind": recorded.kind,
        "protocol": recorded.protocol,
        "tool": recorded.tool or "-",
        "method": recorded.request.method,
        "url": recorded.request.url,
        "status": got.status if got else None,
        "ending": recorded.ending,
        "error": recorded.error,
        "attempt": recorded.attempt,
        "bytes": len(got.body) if got else 0,
        "first_byte_ms": None if first_ns is None else round(first_ns / 1e6, 3),
        "duration_ms": round(recorded.duration_ms, 3),
        "fired": [fault.id for fault in recorded.faults if fault.outcome == "fired"],
    }


def _row(summary: dict[str, Any]) -> tuple[str, ...]:
    first = summary["first_byte_ms"]
    url = summary["url"]
    return (
        summary["session"],
        str(summary["number"]),
        summary["kind"],
        f"{summary['method']} {url if len(url) <= 70 else url[:69] + '…'}",
        "-" if summary["status"] is None else str(summary["status"]),
        summary["ending"],
        str(summary["bytes"]),
        "-" if first is None else f"{first:.1f} ms",
        ", ".join(summary["fired"]) or "-",
    )


def show_one(detail: Detail, session: Iterable[Recorded], *, raw: bool, format_: Format) -> None:
    """One exchange with its messages and its ledger; its `session` is read only for what is named there."""
    recorded = detail.recorded
    if raw:
        click.echo(recorded.delivered.body if recorded.delivered else b"", nl=False)
        return
    part = _clean(conversation_part(recorded, detail.forwarded, text=WHOLE, turns=WHOLE))
    name_results([part], session)
    if format_ == "json":
        show_json(_document(detail, part))
    else:
        show("\n\n".join(_parts(detail, part)))


def _parts(detail: Detail, part: dict[str, Any] | None) -> Iterable[str]:
    recorded = detail.recorded
    summary = _summary(recorded)
    pairs = [(key, str(summary[key])) for key in ("session", "number", "kind")]
    pairs += [("protocol", recorded.protocol or "-"), *((k, str(summary[k])) for k in ("tool", "attempt"))]
    if recorded.http2:
        pairs.append(("client spoke", "HTTP/2"))
    pairs += [("began", iso(recorded.started_ms)), ("took", f"{recorded.duration_ms:.1f} ms")]
    pairs += [("ending", recorded.ending), ("error", recorded.error or "-")]
    pairs += [("redacted", ", ".join(f"{n} {what}" for what, n in detail.redactions.items()) or "nothing")]
    why = revoked(recorded)
    pairs += [("recognition", why)] if why else []
    yield fields([(name, safe(value)) for name, value in pairs])
    if part is not None:
        yield "\n".join((talk.head(part), *talk.lines(part, tool=recorded.kind == "tool")))
    if recorded.messages:
        yield "\n".join(("messages", *talk.messages(recorded.messages)))
    yield from _messages(detail, summarised=part is not None and not part["problem"])
    if recorded.faults:
        yield "\n".join(safe(_ledger(fault)) for fault in recorded.faults)


def _messages(detail: Detail, *, summarised: bool) -> Iterable[str]:
    """The messages of an exchange: heads, and bodies unless they were already `summarised`."""
    recorded, request = detail.recorded, detail.recorded.request
    yield _message(f"> {request.method} {request.url}", request.headers, request.body, summarised=summarised)
    if detail.forwarded:
        sent = detail.forwarded
        head = f"> forwarded as {sent.method} {sent.url}"
        yield _message(head, sent.headers, sent.body, summarised=summarised, known=request.headers)
    if recorded.upstream:
        yield _response("upstream sent", recorded.upstream, summarised=summarised)
    if recorded.delivered is None:
        yield "< no response was delivered"
    elif recorded.delivered != recorded.upstream:
        known = recorded.upstream.headers if recorded.upstream else ()
        yield _response("delivered", recorded.delivered, summarised=summarised, known=known)


def _message(
    head: str, headers: Headers, body: bytes | None, *, summarised: bool, known: Headers = ()
) -> str:
    """A message with its headers, but for those that are `known` already."""
    fresh = [f"  {name}: {value}" for name, value in headers if (name, value) not in known]
    fresh += [f"  without {name}" for name, _ in known if header(headers, name) is None]
    lines = [safe(head), *map(safe, fresh)]
    if known:
        lines.append(f"  ({'every other header' if fresh else 'headers'} as above)")
    lines.append("")
    if body is None or summarised:
        return "\n".join(lines).rstrip()
    lines += [f"  {line}" for line in safe(_readable(body, headers), lines=True).split("\n")]
    return "\n".join(lines).rstrip()


def _response(what: str, delivery: Delivery, *, summarised: bool, known: Headers = ()) -> str:
    head = f"< {what}: {delivery.status} {delivery.reason}".rstrip()
    chunks = f"{counted(len(delivery.body), 'byte')} in {counted(len(delivery.chunks), 'chunk')}"
    return _message(f"{head} ({chunks})", delivery.headers, delivery.body, summarised=summarised, known=known)


def _ledger(fault: FaultFired) -> str:
    subject = f" on {fault.subject}" if fault.subject else ""
    effect = f": {fault.effect}" if fault.effect else ""
    return f"fault {fault.id}{subject}: {fault.outcome}, {fault.reason}{effect}"


def _document(detail: Detail, part: dict[str, Any] | None) -> dict[str, Any]:
    recorded = detail.recorded
    request = recorded.request
    return {
        **_summary(recorded),
        "started_ms": recorded.started_ms,
        "request": {"headers": request.headers, "body": _text(request.body)},
        "forwarded": None
        if detail.forwarded is None
        else {"headers": detail.forwarded.headers, "body": _text(detail.forwarded.body)},
        "upstream": _delivered(recorded.upstream),
        "delivered": _delivered(recorded.delivered),
        "faults": [asdict(fault) for fault in recorded.faults],
        "redactions": detail.redactions,
        "request_id": request_id(part),
        "revoked": revoked(recorded),
        "conversation": part,
        "messages": [{**asdict(message), "data": _text(message.data)} for message in recorded.messages],
    }


def _delivered(delivery: Delivery | None) -> dict[str, Any] | None:
    if delivery is None:
        return None
    return {
        "status": delivery.status,
        "reason": delivery.reason,
        "headers": delivery.headers,
        "body": _text(delivery.body),
        "chunks": [{"end": end, "ns": ns} for end, ns in delivery.chunks],
    }


def _readable(body: bytes, headers: Headers) -> str:
    """The body as text, unpacked where it is packed."""
    try:
        body, _ = decoded(body, headers)
    except WireError:
        return body.decode("utf-8", "backslashreplace")
    return body.decode("utf-8", "backslashreplace")


def _text(body: bytes | None) -> str | None:
    return None if body is None else body.decode("utf-8", "backslashreplace")
