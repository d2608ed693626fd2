"""Spans and metrics of a run while it goes on, received and scraped as others do it."""

from __future__ import annotations

import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import httpx
import pytest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from tests.e2e.agents import environments
from tests.e2e.exec.conftest import here as here

COMMAND = [sys.executable, "-m", "faultwire"]
AGENT = Path(environments.HERE) / "openai_agent.py"
HOLD = '"$@"; touch answered; while [ ! -e go ]; do sleep 0.02; done'


class Collector(BaseHTTPRequestHandler):
    """Takes spans as an OTLP/HTTP collector does."""

    received: list[ExportTraceServiceRequest]

    def do_POST(self) -> None:
        data = self.rfile.read(int(self.headers["content-length"]))
        if self.headers.get("content-encoding") == "gzip":
            import gzip

            data = gzip.decompress(data)
        assert self.path == "/v1/traces"
        self.received.append(ExportTraceServiceRequest.FromString(data))
        self.send_response(200)
        self.send_header("content-length", "0")
        self.end_headers()

    def log_message(self, *_: object) -> None:
        pass


@contextmanager
def collector() -> Iterator[tuple[str, list[ExportTraceServiceRequest]]]:
    received: list[ExportTraceServiceRequest] = []
    kind = type("One", (Collector,), {"received": received})
    server = HTTPServer(("127.0.0.1", 0), kind)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}", received
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def until(there: Callable[[], object], process: subprocess.Popen[str]) -> None:
    ends = time.monotonic() + 90
    while not there():
        assert process.poll() is None
        assert time.monotonic() < ends
        time.sleep(0.02)


def test_spans_go_out_as_calls_end_and_metrics_are_scraped_with_the_token(here: Path) -> None:
    (here / "token").write_text("0123456789abcdef0123456789abcdef\n")
    agent = [str(environments.python("openai-3")), str(AGENT), "sync/whole"]
    fault = "status: {code: 503, attempts: first}"
    with collector() as (url, received):
        options = ["--mock", "--fault", fault, "--otel", url, "--ui-token", "token"]
        command = [*COMMAND, "exec", *options, "--", "sh", "-c", HOLD, "sh", *agent]
        with subprocess.Popen(
            command, cwd=here, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        ) as process:
            try:
                assert process.stderr is not None
                line = next(one for one in process.stderr if one.startswith("metrics"))
                place = line.split()[1]
                until((here / "answered").exists, process)
                text = scraped(place, "0123456789abcdef0123456789abcdef")
                assert httpx.get(place, trust_env=False).status_code == 401
                wrong = {"authorization": "Bearer 0123456789abcdef0123456789abcdee"}
                assert httpx.get(place, headers=wrong, trust_env=False).status_code == 401
                evil = {"authorization": "Bearer 0123456789abcdef0123456789abcdef", "host": "evil.test"}
                assert httpx.get(place, headers=evil, trust_env=False).status_code == 421
                until(lambda: received, process)  # spans go out in groups, while the run goes on
                during = len(received)
                (here / "go").touch()
                out, err = process.communicate(timeout=90)
                assert process.returncode == 0, out + err
            finally:
                if process.poll() is None:
                    process.kill()
    assert 'faultwire_exchanges_total{kind="llm",provider="openai",code="503",ending="complete"} 1' in text
    assert 'faultwire_exchanges_total{kind="llm",provider="openai",code="200",ending="complete"} 1' in text
    assert 'faultwire_faults_fired_total{fault="status"} 1' in text
    assert during >= 1, "the call's span goes out while the run goes on"
    found = [
        (span, inner.schema_url)
        for request in received
        for resource in request.resource_spans
        for inner in resource.scope_spans
        for span in inner.spans
    ]
    (call,) = [span for span, _ in found if span.name.startswith("chat")]
    assert [event.name for event in call.events] == [
        "faultwire.attempt",
        "faultwire.fault",
        "faultwire.attempt",
    ]
    assert {schema for _, schema in found} == {"https://opentelemetry.io/schemas/1.44.0"}
    (session,) = [span for span, _ in found if span.name.startswith("invoke_agent")]
    assert call.parent_span_id == session.span_id
    assert "0123456789abcdef" not in err


def scraped(place: str, token: str) -> str:
    """What is given, once both attempts were read from the tape."""
    ends = time.monotonic() + 30
    while True:
        answer = httpx.get(place, headers={"authorization": f"Bearer {token}"}, trust_env=False)
        assert answer.status_code == 200
        if answer.text.count("faultwire_exchanges_total{") == 2 or time.monotonic() > ends:
            return str(answer.text)
        time.sleep(0.05)


@pytest.mark.parametrize("token", ["", "short", "has a blank inside it"])
def test_a_token_that_is_none_is_refused(here: Path, token: str) -> None:
    (here / "token").write_text(token)
    command = [*COMMAND, "exec", "--mock", "--ui-token", "token", "--", "true"]
    done = subprocess.run(command, cwd=here, capture_output=True, text=True, timeout=90)
    assert done.returncode == 2
    assert "found no token of 16 characters" in done.stderr
    assert not token or token not in done.stderr
