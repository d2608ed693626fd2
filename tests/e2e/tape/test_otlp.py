"""Spans through the real SDK to a server that reads the real protocol."""

from __future__ import annotations

import gzip
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import pytest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

from faultwire.errors import TapeError
from faultwire.tape.export import otlp, spans

SAMPLE = Path(__file__).parents[3] / "replays" / "cut_stream.tape"


@pytest.fixture
def collector() -> Iterator[tuple[str, list[ExportTraceServiceRequest]]]:
    got: list[ExportTraceServiceRequest] = []

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["content-length"]))
            if self.headers.get("content-encoding") == "gzip":
                body = gzip.decompress(body)
            got.append(ExportTraceServiceRequest.FromString(body))
            self.send_response(200 if self.path == "/v1/traces" else 400)
            self.end_headers()

        def log_message(self, *_arguments: object) -> None:
            pass

    server = HTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}", got
    server.shutdown()
    thread.join()
    server.server_close()


def test_a_collector_gets_every_span(collector: tuple[str, list[ExportTraceServiceRequest]]) -> None:
    url, got = collector
    wanted = list(spans.spans(SAMPLE))
    assert otlp.send(SAMPLE, f"{url}/v1/traces") == len(wanted)
    found = [span for one in got for r in one.resource_spans for s in r.scope_spans for span in s.spans]
    assert [(one.trace_id, one.span_id, one.name) for one in found] == [
        (w.trace, w.id, w.name) for w in wanted
    ]
    assert {r.schema_url for one in got for r in one.resource_spans} == {spans.SCHEMA}


def test_a_collector_that_refuses_is_an_error(collector: tuple[str, list[ExportTraceServiceRequest]]) -> None:
    url, _ = collector
    with pytest.raises(TapeError, match="did not take the spans"):
        otlp.send(SAMPLE, f"{url}/elsewhere")
