"""`--tapes` of commands that record: pieces go ahead, the tape follows its seal, no verdict hangs on it."""

from __future__ import annotations

import ctypes
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from tests.e2e.play.conftest import TALKER, Project

from faultwire.store.objects import Objects
from faultwire.store.tapes import kept, pull

FAULTWIRE = str(Path(sys.executable).parent / "faultwire")
SENDER = """
import http.client, os, sys
from base64 import b64encode
from urllib.parse import urlsplit
proxy = urlsplit(os.environ["HTTP_PROXY"])
auth = "Basic " + b64encode(f"{proxy.username}:{proxy.password}".encode()).decode()
place = urlsplit(sys.argv[1])
for number in range(int(sys.argv[2])):
    line = http.client.HTTPConnection(proxy.hostname, proxy.port)
    body = os.urandom(int(sys.argv[3])).hex()
    line.request("POST", f"http://{place.netloc}/v{number}", body, {"proxy-authorization": auth})
    line.getresponse().read()
    line.close()
if len(sys.argv) > 4:
    print("sent", flush=True)
    sys.stdin.read()
"""
SINK = """
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
class Sink(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    def do_POST(self):
        self.rfile.read(int(self.headers["content-length"]))
        self.send_response(200)
        self.send_header("content-length", "2")
        self.end_headers()
        self.wfile.write(b"ok")
    def log_message(self, *_): pass
server = ThreadingHTTPServer(("127.0.0.1", 0), Sink)
print(server.server_address[1], flush=True)
server.serve_forever()
"""


@pytest.fixture
def sink() -> Iterator[str]:
    process = subprocess.Popen([sys.executable, "-c", SINK], stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    yield f"http://127.0.0.1:{process.stdout.readline().strip()}"
    process.kill()
    process.wait()
    process.stdout.close()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "team").mkdir()
    (tmp_path / "sender.py").write_text(SENDER)
    return tmp_path


def words(sink: str, count: int, size: int, *more: str, place: str = "team") -> list[str]:
    """A command that records so many calls of so many bytes."""
    sender = [sys.executable, "sender.py", sink, str(count), str(size), *more]
    return [
        FAULTWIRE,
        "exec",
        "--allow-host",
        "127.0.0.1",
        "--tapes",
        place,
        "--project",
        "shop",
        "--",
        *sender,
    ]


def faultwire(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([FAULTWIRE, *arguments], cwd=folder, capture_output=True, text=True, timeout=300)


def tape_of(folder: Path) -> Path:
    (found,) = folder.glob(".faultwire/runs/*/run.tape")
    return found


@pytest.mark.parametrize(
    ("count", "size"), [(60, 60_000), pytest.param(2600, 10_000, marks=pytest.mark.nightly)]
)
def test_most_of_a_tape_is_there_when_it_is_sealed(folder: Path, sink: str, count: int, size: int) -> None:
    done = subprocess.run(words(sink, count, size), cwd=folder, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    objects = Objects(str(folder / "team"))
    (digest,) = kept(objects, "shop")
    assert f"uploaded run.tape: {digest}" in " ".join(done.stderr.split())
    pull(objects, digest, "shop", folder / "back.tape")
    assert (folder / "back.tape").read_bytes() == tape_of(folder).read_bytes()
    assert "evidence AUTHORITATIVE" in faultwire(folder, "tape", "verify", "back.tape").stdout
    if count > 1000:  # a run that is over within the second that is between two looks has nothing ahead
        before, whole = ahead(folder)
        print(f"{before / whole:.1%} of {whole} bytes were there")
        assert before / whole > 0.85


def ahead(folder: Path) -> tuple[int, int]:
    """Bytes of pieces that are older than the seal, and all."""
    sealed_ns = tape_of(folder).with_name("run.tape.seal").stat().st_mtime_ns
    (manifest,) = (folder / "team" / "tapes" / "shop").iterdir()
    named = json.loads(manifest.read_text())["files"]["tape"]["pieces"]
    paths = [(folder / "team" / "blobs" / name[:2] / name, size) for name, size in named]
    return sum(size for path, size in paths if path.stat().st_mtime_ns < sealed_ns), sum(
        size for _, size in paths
    )


def sent_ahead(folder: Path) -> int:
    return sum(1 for path in (folder / "team" / "blobs").glob("*/*") if path.stat().st_size)


def until(what: Callable[[], bool]) -> None:
    wait = threading.Event()
    deadline = time.monotonic() + 120
    while not what():
        assert time.monotonic() < deadline
        wait.wait(0.05)


def test_what_was_sent_before_a_kill_is_not_sent_again(folder: Path, sink: str) -> None:
    with subprocess.Popen(
        words(sink, 150, 60_000, "stay"), cwd=folder, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL, start_new_session=True,
    ) as process:  # fmt: skip
        until(lambda: sent_ahead(folder) > 1)
        about = json.loads(tape_of(folder).with_name("run.json").read_text())
        os.kill(about["engine_pid"], signal.SIGKILL)  # or it seals the tape when the command is gone
        os.killpg(process.pid, signal.SIGKILL)
    assert kept(Objects(str(folder / "team")), "shop") == []
    refused = faultwire(folder, "push", "last", "--tapes", "team", "--project", "shop")
    assert (refused.returncode, "faultwire tape seal" in refused.stderr) == (2, True)
    assert faultwire(folder, "tape", "seal", str(tape_of(folder))).returncode == 0
    done = faultwire(folder, "push", "last", "--tapes", "team", "--project", "shop")
    assert done.returncode == 0, done.stderr
    known = re.search(r"([0-9]+) there already", done.stderr)
    assert known is not None
    assert int(known[1]) >= 2
    digest = done.stdout.split()[0]
    pull(Objects(str(folder / "team")), digest, "shop", folder / "back.tape")
    found = faultwire(folder, "tape", "verify", "back.tape")
    assert (found.returncode, "AUTHORITATIVE" in found.stdout) == (0, False)  # its session never ended


def test_a_place_that_fails_changes_nothing_but_is_reported(folder: Path, sink: str) -> None:
    with subprocess.Popen(
        words(sink, 60, 60_000, "stay"), cwd=folder, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
        stderr=subprocess.PIPE, text=True,
    ) as process:  # fmt: skip
        assert process.stdout is not None
        assert process.stdout.readline() == "sent\n"
        shutil.rmtree(folder / "team")
        (folder / "team").write_text("no folder any more")
        _, said = process.communicate("")
    assert process.returncode == 0, said
    assert "warning: not uploaded: " in said
    assert "goes on" in said
    assert "uploaded run.tape" not in said
    assert "evidence AUTHORITATIVE" in faultwire(folder, "tape", "verify", str(tape_of(folder))).stdout


def test_a_place_that_cannot_be_used_is_refused_before_anything_is_started(folder: Path, sink: str) -> None:
    (folder / "full").mkdir()
    (folder / "full" / "blobs").write_text("in the way")
    for place, code in (("none", 2), ("full", 3)):
        done = subprocess.run(
            words(sink, 1, 10, place=place), cwd=folder, capture_output=True, text=True, timeout=60
        )
        assert done.returncode == code, done.stderr
    assert not (folder / ".faultwire").exists()


def test_a_contract_s_tapes_go_as_well_and_its_verdict_stays(tmp_path: Path) -> None:
    (tmp_path / "shop").mkdir()
    (tmp_path / "team").mkdir()
    (tmp_path / "shop" / "talker.py").write_bytes(TALKER.read_bytes())
    project = Project(tmp_path / "shop")
    project.write(
        contract={"name": "c", "invariants": [{"type": "completes"}], "chaos_matrix": [{"name": "calm"}]}
    )
    done = project.run("contract", "run", "-q", "--tapes", "../team")
    assert done.returncode == 0, done.stderr
    assert len(kept(Objects(str(tmp_path / "team")), "shop")) == 1
    assert "uploaded run.tape" in done.stderr


def to_the_process(pid: int) -> None:
    os.kill(pid, signal.SIGTERM)


def to_another_of_its_threads(pid: int) -> None:
    """As the kernel may choose; only the main one waits for signals. Python has no call for tgkill(2)."""
    others = [int(one.name) for one in Path(f"/proc/{pid}/task").iterdir()]
    (other, *_) = (one for one in others if one != pid)
    assert ctypes.CDLL(None, use_errno=True).tgkill(pid, other, signal.SIGTERM) == 0


@pytest.mark.parametrize("stop", [to_the_process, to_another_of_its_threads])
def test_a_proxy_s_tape_goes_when_it_is_stopped(folder: Path, stop: Callable[[int], None]) -> None:
    with subprocess.Popen(
        [FAULTWIRE, "proxy", "--tapes", "team", "--project", "shop"], cwd=folder, stderr=subprocess.PIPE,
        stdout=subprocess.DEVNULL, text=True,
    ) as process:  # fmt: skip
        assert process.stderr is not None
        lines = iter(process.stderr.readline, "")
        assert any(line == "ready\n" for line in lines)
        stop(process.pid)
        rest = "".join(lines)
    assert process.returncode == 0, rest
    assert "uploaded run.tape" in rest, rest
    assert len(kept(Objects(str(folder / "team")), "shop")) == 1
