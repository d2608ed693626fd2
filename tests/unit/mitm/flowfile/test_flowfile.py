"""`faultwire.mitm.flowfile.flowfile`: mitmproxy reads what we write, and we what it writes."""

from __future__ import annotations

import io
import subprocess
import sys
from pathlib import Path

import pytest
from mitmproxy import http
from mitmproxy.io import FlowReader
from mitmproxy.test import tflow

from faultwire.errors import TapeError
from faultwire.events import Exchange, FaultFired, Request, Response
from faultwire.mitm.flowfile import flowfile
from faultwire.tape.record.writer import TapeWriter

LINE = FaultFired("status", "status", "response", "fired", "rolled", "k", 0, 0, effect="answered 503")


def tape(folder: Path) -> Path:
    path = folder / "t.tape"
    writer = TapeWriter.create(path, origin="p/t", settings={})
    writer.open_session("s", profile="calm", profile_digest="d", seed=7)
    request = Request("POST", "https", "h.example", 443, "/v1?x=1", (("Content-Type", "text/plain"),), b"ask")
    recording = writer.record(Exchange("s", 1, request))
    recording.request(request)
    recording.upstream_head(Response(200, "Fine", (("x-a", "1"), ("x-a", "2"))))
    recording.upstream_chunk(b"one")
    recording.upstream_chunk(b"two")
    recording.end("complete", None, (LINE,))
    recording = writer.record(Exchange("s", 2, request))
    recording.request(request)
    recording.end("reset", "connection reset", ())
    writer.close_session("s")
    writer.close()
    return path


def test_mitmproxy_loads_what_was_written(tmp_path: Path) -> None:
    out = io.BytesIO()
    assert flowfile.write(tape(tmp_path), out) == 2
    first, second = FlowReader(io.BytesIO(out.getvalue())).stream()
    assert isinstance(first, http.HTTPFlow)
    assert isinstance(second, http.HTTPFlow)
    assert first.request.url == "https://h.example/v1?x=1"
    assert first.request.raw_content == b"ask"
    assert first.response
    assert first.response.headers.get_all("x-a") == ["1", "2"]
    assert (first.response.raw_content, first.comment) == (b"onetwo", "status: answered 503")
    assert second.response is None
    assert second.error
    assert second.error.msg == "connection reset"


def test_what_was_written_is_read_back(tmp_path: Path) -> None:
    out = io.BytesIO()
    flowfile.write(tape(tmp_path), out)
    first, second = flowfile.read(io.BytesIO(out.getvalue()))
    assert (first.request.url, first.request.body) == ("https://h.example/v1?x=1", b"ask")
    assert first.response
    assert (first.response.status, first.response.reason, first.response.body) == (200, "Fine", b"onetwo")
    assert (second.response, second.error) == (None, "connection reset")


def test_flows_of_mitmproxy_itself_are_read() -> None:
    from mitmproxy.io import FlowWriter

    out = io.BytesIO()
    writer = FlowWriter(out)
    writer.add(tflow.tflow(resp=True))
    writer.add(tflow.ttcpflow())
    (one,) = flowfile.read(io.BytesIO(out.getvalue()))
    assert (one.request.host, one.request.path, one.response and one.response.body) == (
        "address",
        "/path",
        b"message",
    )


@pytest.mark.parametrize("data", [b"nonsense", b"9:123", b"999999999:x,"])
def test_what_is_no_flow_file(data: bytes) -> None:
    with pytest.raises(TapeError, match="no readable mitmproxy flow"):
        list(flowfile.read(io.BytesIO(data)))


LOADED = "import sys, MODULE; print(any(name.startswith('mitmproxy.addons') for name in sys.modules))"


@pytest.mark.parametrize(
    ("module", "loads"), [("faultwire.mitm.flowfile.flowfile", False), ("faultwire.mitm.compat", True)]
)
def test_a_command_that_writes_flows_loads_none_of_mitmproxy_s_addons(module: str, loads: bool) -> None:
    command = [sys.executable, "-W", "ignore", "-c", LOADED.replace("MODULE", module)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stdout == f"{loads}\n"
