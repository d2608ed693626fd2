"""A tape on a file system of 2 MB that fills up, behind a real engine: under either policy everything
acknowledged is kept, and nobody is told that the rest was."""

from __future__ import annotations

import http.client
import json
import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

import faultwire
from faultwire.mitm.engine.client import Engine
from faultwire.mitm.settings import EngineSettings, SessionSettings
from faultwire.tape.evidence.findings import evidence_class
from faultwire.tape.evidence.verify import verify
from faultwire.tape.read.reader import TapeReader
from faultwire.tape.record.overload_policy import FailurePolicy

SOURCE = Path(faultwire.__file__).parents[1]
MOST = 400
"""Exchanges of 16 KB that nothing can compress: three times what fits."""


class Answering(BaseHTTPRequestHandler):
    """Answers with bytes that differ each time."""

    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        body = os.urandom(16_000)
        self.send_response(200)
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Say nothing."""


@pytest.fixture
def upstream() -> Iterator[int]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), Answering)
    thread = threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True)
    thread.start()
    yield server.server_address[1]
    server.shutdown()
    server.server_close()
    thread.join()


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    place = tmp_path / "disk"
    place.mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=2m,mode=0700", "tmpfs", str(place)], capture_output=True
    )
    if mounted.returncode:
        pytest.skip("mounting a file system takes root")
    yield place
    subprocess.run(["umount", str(place)], check=True)


def settings(folder: Path, tape: Path, policy: FailurePolicy) -> EngineSettings:
    return EngineSettings(
        run_dir=folder / "run",
        ca_dir=folder / ".faultwire" / "ca",
        tape=tape,
        on_tape_failure=policy,
        allow_hosts=("127.0.0.1",),
        implicit=SessionSettings(name="s", profile={"name": "calm", "entries": []}, seed=1),
    )


def ask(proxy: int, upstream: int) -> tuple[int, bytes]:
    connection = http.client.HTTPConnection("127.0.0.1", proxy, timeout=30)
    try:
        connection.request("GET", f"http://127.0.0.1:{upstream}/")
        answer = connection.getresponse()
        return answer.status, answer.read()
    finally:
        connection.close()


def journal(run: Path) -> list[int]:
    lines = map(json.loads, (run / "events.jsonl").read_text().splitlines())
    return [line["exchange"] for line in lines if line["type"] == "acknowledged"]


def kept(tape: Path) -> set[int]:
    with TapeReader.open(tape) as reader:
        return {one.number for one in reader.exchanges() if one.ending == "complete"}


@pytest.mark.parametrize("policy", ["fail", "pass-unrecorded"])
def test_a_full_disk_keeps_everything_that_was_acknowledged(
    tmp_path: Path, small_disk: Path, upstream: int, policy: FailurePolicy
) -> None:
    tape = small_disk / "t.tape"
    with Engine.start(settings(tmp_path, tape, policy)) as engine:
        passed = 0
        for _ in range(MOST):
            status, body = ask(engine.port, upstream)
            if status != 200:
                assert status == 503
                assert json.loads(body)["error"]["type"] == "faultwire_tape"
                break
            passed += 1
        engine.flush()
        summary = engine.close_session("s")
    acknowledged = journal(tmp_path / "run")
    assert 10 < len(acknowledged) < MOST
    assert set(acknowledged) <= kept(tape)
    report = verify(tape)
    assert report.ok, report.findings
    assert evidence_class(report)[0] == "PARTIAL"
    assert summary.acknowledged == 0
    if policy == "fail":
        assert passed < MOST
        assert any("the tape cannot be written" in why for why in summary.voids)
        assert summary.incomplete is None
    else:
        assert passed == MOST
        assert summary.voids == ()
        assert summary.incomplete is not None
        assert "passed unrecorded" in summary.incomplete
        assert summary.incomplete in summary.notes


def test_a_disk_with_room_loses_nothing(tmp_path: Path, upstream: int) -> None:
    """The control: the same traffic, and every exchange is there."""
    tape = tmp_path / "t.tape"
    with Engine.start(settings(tmp_path, tape, "fail")) as engine:
        assert {ask(engine.port, upstream)[0] for _ in range(150)} == {200}
        summary = engine.close_session("s")
    assert (summary.acknowledged, summary.voids, summary.incomplete) == (150, (), None)
    assert kept(tape) == set(range(1, 151))


RACE = """
import sys
from pathlib import Path
from faultwire.errors import FaultwireError
from faultwire.tape.record.writer import TapeWriter

sys.stdin.readline()
try:
    writer = TapeWriter.create(Path(sys.argv[1]), origin="p/t", settings={"who": sys.argv[2]})
except FaultwireError as error:
    print(error.code)
else:
    writer.open_session(sys.argv[2], profile="calm", profile_digest="", seed=1)
    writer.close_session(sys.argv[2])
    writer.close()
    print(writer.failed or "wrote")
"""


@pytest.mark.nightly
def test_of_many_that_want_one_tape_one_gets_it(tmp_path: Path) -> None:
    started = [
        subprocess.Popen(
            [sys.executable, "-c", RACE, str(tmp_path / "t.tape"), f"w{n}"],
            env={**os.environ, "PYTHONPATH": str(SOURCE)},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        for n in range(12)
    ]
    for one in started:
        assert one.stdin is not None
        one.stdin.write("\n")
        one.stdin.flush()
    said = sorted(one.communicate(timeout=60)[0].strip() for one in started)
    assert said == ["tape.exists"] * 11 + ["wrote"]
    report = verify(tmp_path / "t.tape")
    assert (report.ok, report.sessions) == (True, 1)
    assert list(tmp_path.iterdir()) == [tmp_path / "t.tape"]
