"""A tape's spans on their way: as an OTLP/JSON file, or to an endpoint.

`write` makes the JSON that OpenTelemetry's file exporter defines (opentelemetry.io/docs/specs/otel,
"OTLP File Exporter"); `send` goes through `opentelemetry-sdk`, extra `[otel]`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, BinaryIO, Protocol

import orjson

from faultwire._core import __version__
from faultwire.errors import TapeError, UsageError
from faultwire.tape.export.spans import SCHEMA, spans

if TYPE_CHECKING:
    from collections.abc import Sequence
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
                "timeUnixNano": str(instant),
                "attributes": [_attribute(*one) for one in about.items()],
            }
            for name, about, instant in span.dated_events
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
    export = exporter_to(endpoint, "--endpoint")
    count, taken = 0, True
    batch: list[Span] = []
    try:
        for span in spans(path):
            batch.append(span)
            count += 1
            if len(batch) == BATCH:
                taken = export(batch)
                batch.clear()
                if not taken:
                    break
        if taken and batch:
            taken = export(batch)
    finally:
        export.close()
    if not taken:
        raise TapeError(f"`{endpoint}` did not take the spans", code="tape.otlp")
    return count


class Exporter(Protocol):
    """Sends spans; True where they were taken."""

    def __call__(self, batch: Sequence[Span], /) -> bool:
        """Send them."""

    def close(self) -> None:
        """Let the endpoint go."""


def exporter_to(endpoint: str, option: str) -> Exporter:
    """What sends spans to an OTLP/HTTP endpoint, as `option` asked for.

    Raises UsageError without the extra.
    """
    try:
        from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
        from opentelemetry.sdk.trace.export import SpanExportResult
    except ImportError as error:
        raise UsageError(
            f"found no `opentelemetry-sdk`, expected it for `{option}`",
            code="extra.otel",
            hint="pip install 'faultwire[otel]'; without it, export to a file",
        ) from error
    exporter = OTLPSpanExporter(endpoint=endpoint)

    class Sends:
        def __call__(self, batch: Sequence[Span], /) -> bool:
            return exporter.export(list(map(_readable, batch))) is SpanExportResult.SUCCESS

        def close(self) -> None:
            exporter.shutdown()  # type: ignore[no-untyped-call]

    return Sends()


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
        events=[Event(name, about, instant) for name, about, instant in span.dated_events],
        kind=SpanKind.CLIENT if span.client else SpanKind.INTERNAL,
        instrumentation_scope=InstrumentationScope("faultwire", __version__, SCHEMA),
        status=Status(StatusCode.ERROR, span.error) if span.error else Status(StatusCode.UNSET),
        start_time=span.start_ns,
        end_time=span.end_ns,
    )
