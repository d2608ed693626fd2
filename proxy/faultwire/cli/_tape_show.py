"""How `faultwire tape show` prints exchanges. Bodies and headers are hostile: all of it is escaped."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import click

from faultwire.cli.output import Format, columns, fields, safe, show, show_json
from faultwire.clock import iso
from faultwire.errors import WireError
from faultwire.wire.decode import decoded

if TYPE_CHECKING:
    from collections.abc import Iterable

    from faultwire.events import Delivery, FaultFired, Headers, Recorded
    from faultwire.tape.read import Detail, TapeReader


def show_all(reader: TapeReader, session: str | None, format_: Format) -> None:
    """A line for each exchange."""
    exchanges = reader.history(session).exchanges if session else reader.exchanges()
    if format_ == "json":
        show_json([_summary(recorded) for recorded in exchanges])
        return
    rows = [_row(_summary(recorded)) for recorded in exchanges]
    if not rows:
        show("no exchanges")
        return
    header = ("session", "no", "kind", "request", "status", "ending", "bytes", "first byte", "fired")
    show(columns(header, rows))


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


def show_one(detail: Detail, *, raw: bool, format_: Format) -> None:
    """One exchange with its messages and its ledger."""
    recorded = detail.recorded
    if raw:
        click.echo(recorded.delivered.body if recorded.delivered else b"", nl=False)
    elif format_ == "json":
        show_json(_document(detail))
    else:
        show("\n\n".join(_parts(detail)))


def _parts(detail: Detail) -> Iterable[str]:
    recorded = detail.recorded
    summary = _summary(recorded)
    pairs = [(key, str(summary[key])) for key in ("session", "number", "kind", "protocol", "tool", "attempt")]
    pairs += [("began", iso(recorded.started_ms)), ("took", f"{recorded.duration_ms:.1f} ms")]
    pairs += [("ending", recorded.ending), ("error", recorded.error or "-")]
    pairs += [("redacted", ", ".join(f"{n} {what}" for what, n in detail.redactions.items()) or "nothing")]
    yield fields([(name, safe(value)) for name, value in pairs])
    request = recorded.request
    yield _message(f"> {request.method} {request.url}", request.headers, request.body or b"")
    if detail.forwarded:
        sent = detail.forwarded
        yield _message(f"> forwarded as {sent.method} {sent.url}", sent.headers, sent.body or b"")
    if recorded.upstream:
        yield _response("upstream said", recorded.upstream)
    if recorded.delivered is None:
        yield "< nothing was delivered"
    elif recorded.delivered != recorded.upstream:
        yield _response("delivered", recorded.delivered)
    for fault in recorded.faults:
        yield safe(_ledger(fault))


def _message(head: str, headers: Headers, body: bytes) -> str:
    lines = [safe(head), *(safe(f"  {name}: {value}") for name, value in headers), ""]
    lines += [f"  {line}" for line in safe(_readable(body, headers), lines=True).split("\n")]
    return "\n".join(lines).rstrip()


def _response(what: str, delivery: Delivery) -> str:
    head = f"< {what}: {delivery.status} {delivery.reason}".rstrip()
    chunks = f"{len(delivery.body)} bytes in {len(delivery.chunks)} chunks"
    return _message(f"{head} ({chunks})", delivery.headers, delivery.body)


def _ledger(fault: FaultFired) -> str:
    subject = f" on {fault.subject}" if fault.subject else ""
    effect = f": {fault.effect}" if fault.effect else ""
    return f"fault {fault.id}{subject}: {fault.outcome}, {fault.reason}{effect}"


def _document(detail: Detail) -> dict[str, Any]:
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
