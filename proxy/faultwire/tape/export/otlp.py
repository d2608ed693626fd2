"""A tape's spans on their way: as an OTLP/JSON file, or to an endpoint.

`write` makes the JSON that OpenTelemetry's file exporter defines (opentelemetry.io/docs/specs/otel,
"OTLP File Exporter"); `send` goes through `opentelemetry-sdk`, extra `[otel]`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, BinaryIO

import orjson

from faultwire._core import __version__
from faultwire.errors import TapeError, UsageError
from faultwire.tape.export.spans import SCHEMA, spans

if TYPE_CHECKING:
    from pathlib import Path

    from opentelemetry.sdk.trace import ReadableSpan

    from faultwire.tape.export.spans import Span, Value

UNIT = "spans"
BATCH = 256


# ---------------------------------------------------------------- OTLP/JSON


def write(path: Path, out: BinaryIO) -> int:
    """Write the tape's spans as one OTLP/JSON object; their number."""
    count = 0
    scope = {"name": "faultwire", "version": __version__}
    resource = {"attributes": [_attribute("service.name", "faultwire")]}
    head = orjson.dumps({"resource": resource, "schemaUrl": SCHEMA})[:-1]
    inner = orjson.dumps({"scope": scope, "schemaUrl": SCHEMA})[:-1]
    out.write(b'{"resourceSpans":[' + head + b',"scopeSpans":[' + inner + b',"spans":[')
    for span in spans(path):
        out.write((b",\n" if count else b"\n") + orjson.dumps(_json(span)))
        count += 1
    out.write(b"\n]}]}]}\n")
    return count


def _json(span: Span) -> dict[str, object]:
    found: dict[str, object] = {
        "traceId": span.trace.hex(),
        "spanId": span.id.hex(),
        "name": span.name,
        "kind": 3 if span.client else 1,
        "startTimeUnixNano": str(span.start_ns),
        "endTimeUnixNano": str(span.end_ns),
        "attributes": [_attribute(*one) for one in span.attributes.items()],
        "status": {"code": 2, "message": span.error} if span.error else {},
    }
    if span.parent:
        found["parentSpanId"] = span.parent.hex()
    if span.events:
        found["events"] = [
            {
                "name": name,
                "timeUnixNano": str(span.start_ns),
                "attributes": [_attribute(*one) for one in about.items()],
            }
            for name, about in span.events
        ]
    return found


def _attribute(key: str, value: Value) -> dict[str, object]:
    """OTLP/JSON writes 64-bit integers as text."""
    if isinstance(value, tuple):
        return {"key": key, "value": {"arrayValue": {"values": [{"stringValue": one} for one in value]}}}
    if isinstance(value, str):
        return {"key": key, "value": {"stringValue": value}}
    if isinstance(value, int):
        return {"key": key, "value": {"intValue": str(value)}}
    return {"key": key, "value": {"doubleValue": value}}


# ---------------------------------------------------------------- through the SDK


def send(path: Path, endpoint: str) -> int:
    """Send the tape's spans to an OTLP/HTTP endpoint; their number.

    Raises UsageError without the extra, TapeError where the endpoint does not take them.
    """
    try:
        from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
        from opentelemetry.sdk.trace.export import SpanExportResult
    except ImportError as error:
        raise UsageError(
            "found no `opentelemetry-sdk`, expected it for `--endpoint`",
            code="extra.otel",
            hint="pip install 'faultwire[otel]'; without it, export to a file",
        ) from error
    exporter = OTLPSpanExporter(endpoint=endpoint)
    count = 0
    batch: list[Span] = []
    try:
        for span in spans(path):
            batch.append(span)
            count += 1
            if len(batch) == BATCH:
                done = exporter.export(list(map(_readable, batch)))
                if done is not SpanExportResult.SUCCESS:
                    break
                batch.clear()
        else:
            done = exporter.export(list(map(_readable, batch))) if batch else SpanExportResult.SUCCESS
    finally:
        exporter.shutdown()  # type: ignore[no-untyped-call]
    if done is not SpanExportResult.SUCCESS:
        raise TapeError(f"`{endpoint}` did not take the spans", code="tape.otlp")
    return count


def _readable(span: Span) -> ReadableSpan:
    from opentelemetry.sdk.resources import Resource
    from opentelemetry.sdk.trace import Event, ReadableSpan as Made
    from opentelemetry.sdk.util.instrumentation import InstrumentationScope
    from opentelemetry.trace import SpanContext, SpanKind, Status, StatusCode, TraceFlags

    def context(span_id: bytes) -> SpanContext:
        trace = int.from_bytes(span.trace, "big")
        return SpanContext(trace, int.from_bytes(span_id, "big"), False, TraceFlags(TraceFlags.SAMPLED))

    return Made(
        name=span.name,
        context=context(span.id),
        parent=context(span.parent) if span.parent else None,
        resource=Resource({"service.name": "faultwire"}, SCHEMA),
        attributes=span.attributes,
        events=[Event(name, about, span.start_ns) for name, about in span.events],
        kind=SpanKind.CLIENT if span.client else SpanKind.INTERNAL,
        instrumentation_scope=InstrumentationScope("faultwire", __version__, SCHEMA),
        status=Status(StatusCode.ERROR, span.error) if span.error else Status(StatusCode.UNSET),
        start_time=span.start_ns,
        end_time=span.end_ns,
    )
