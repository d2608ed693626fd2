"""Exports open in the programs that they are for: HAR in Chromium's network panel, flows in mitmdump."""

from __future__ import annotations

import gzip
import json
import subprocess
import sys
from base64 import b64encode
from pathlib import Path

import pytest
from tests.e2e.tape.chromium import PROGRAM, Tools, browser

from faultwire.events import Exchange, Headers, Message, Request, Response
from faultwire.mitm.flowfile import flowfile
from faultwire.tape.export import har
from faultwire.tape.import_ import har as importing
from faultwire.tape.import_._api import Exchanged
from faultwire.tape.read.reader import TapeReader
from faultwire.tape.record.writer import TapeWriter

JSON: Headers = (("content-type", "application/json"),)
STREAM = b"data: {}\n\ndata: [DONE]\n\n"
PICTURE = b"\x89PNG\r\n\x1a\n\xff"


def tape(folder: Path) -> Path:
    """A plain answer, a stream, a picture, a packed body, a reset, a fault, and a WebSocket."""
    path = folder / "t.tape"
    writer = TapeWriter.create(path, origin="p/t", settings={})
    writer.open_session("s", profile="calm", profile_digest="d", seed=7)

    def call(number: int, path: str, answer: Response | None, body: bytes, *messages: Message) -> None:
        request = Request("POST", "https", "h.example", 443, path, JSON, b'{"ask":1}')
        recording = writer.record(Exchange("s", number, request))
        recording.request(request)
        if answer is None:
            recording.end("reset", "connection reset")
            return
        recording.upstream_head(answer)
        recording.upstream_chunk(body)
        for message in messages:
            recording.message(message)
        if path == "/fault":
            recording.touched()
            recording.delivered_head(Response(503, "No", JSON))
            recording.delivered_chunk(b'{"error":1}')
        recording.end("complete")

    packed = (*JSON, ("content-encoding", "gzip"))
    call(1, "/plain?q=1", Response(200, "OK", JSON), b'{"ok":1}')
    call(2, "/stream", Response(200, "OK", (("content-type", "text/event-stream"),)), STREAM)
    call(3, "/picture", Response(200, "OK", (("content-type", "image/png"),)), PICTURE)
    call(4, "/packed", Response(200, "OK", packed), gzip.compress(b'{"long":1}'))
    call(5, "/reset", None, b"")
    call(6, "/fault", Response(200, "OK", JSON), b'{"ok":1}')
    said = Message("client", "text", "hé".encode(), 1_000, 2_000)
    heard = Message("server", "binary", b"\0\1", 3_000, 3_000)
    call(7, "/socket", Response(101, "Switching Protocols"), b"", said, heard)
    writer.close_session("s")
    writer.close()
    return path


@pytest.mark.nightly
@pytest.mark.skipif(PROGRAM is None, reason="there is no Chromium here")
def test_a_har_opens_in_chromiums_network_panel(tmp_path: Path) -> None:
    file = tmp_path / "t.har"
    with file.open("wb") as out:
        har.write(tape(tmp_path), out)
    with browser(tmp_path / "profile") as connection:
        tools = Tools(connection)
        listed = tools.requests(file.read_text())
        broken = tools.requests('{"log": {}}')
    assert [one["url"].removeprefix("https://h.example") for one in listed] == [
        "/plain?q=1", "/stream", "/picture", "/packed", "/reset", "/fault", "/socket",
    ]  # fmt: skip
    assert [one["status"] for one in listed] == [200, 200, 200, 200, 0, 503, 101]
    assert [one["text"] for one in listed[:2]] == ['{"ok":1}', STREAM.decode()]
    assert listed[2]["base64"] == b64encode(PICTURE).decode()
    assert listed[3]["text"] == '{"long":1}'
    assert listed[5]["text"] == '{"error":1}'
    assert {(one["method"], one["posted"]) for one in listed} == {("POST", '{"ask":1}')}
    assert ["content-type", "application/json"] in listed[0]["headers"]
    assert (listed[6]["type"], listed[6]["frames"]) == (
        "websocket",
        [["send", "hé", 1], ["receive", b64encode(b"\0\1").decode(), 2]],
    )
    # What is no HAR adds nothing to the panel: the list above is what it made of ours.
    assert [one["url"] for one in broken] in ([], [one["url"] for one in listed])


def test_flows_load_in_mitmdump_and_its_har_comes_back(tmp_path: Path) -> None:
    flows, hars = tmp_path / "t.flows", tmp_path / "t.har"
    source = tape(tmp_path)
    with flows.open("wb") as out:
        flowfile.write(source, out)
    mitmdump = (sys.executable, "-c", "from mitmproxy.tools.main import mitmdump; mitmdump()")
    folder = ["--set", f"confdir={tmp_path / 'conf'}", "--set", f"hardump={hars}"]
    done = subprocess.run(
        [*mitmdump, "-n", "-r", flows, *folder], capture_output=True, text=True, timeout=120, check=False
    )
    assert done.returncode == 0, done.stderr
    for line in ("https://h.example/plain?q=1", "<< 200 OK 8b", "<< 503 No 11b", "connection reset"):
        assert line in done.stdout
    entries = json.loads(hars.read_text())["log"]["entries"]
    told = [item.exchange for item in importing.read(hars) if isinstance(item, Exchanged)]
    assert len(told) == len(entries) == 7
    with TapeReader.open(source) as reader:
        for was, now in zip(reader.exchanges(), told, strict=True):
            assert now.request.url == was.request.url
            assert now.request.body == was.request.body
            assert (now.delivered is None) == (was.delivered is None)
            if now.delivered and was.delivered:
                assert now.delivered.status == was.delivered.status
                if was.number != 4:
                    assert now.delivered.body == was.delivered.body
            assert [m.data for m in now.messages] == [m.data for m in was.messages]
    assert told[3].delivered
    assert told[3].delivered.body == b'{"long":1}'
    # A flow file that is not one: mitmdump says so, so the test above can tell.
    (tmp_path / "bad").write_bytes(flows.read_bytes()[:-20])
    failed = subprocess.run(
        [*mitmdump, "-n", "-r", tmp_path / "bad"], capture_output=True, text=True, timeout=120, check=False
    )
    assert failed.returncode != 0 or "corrupted" in failed.stdout + failed.stderr
