"""A place for tapes that is full: nothing half is left, and the same command goes on once there is room."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import httpx
import pytest
from tests.e2e.play.conftest import Project
from tests.e2e.store.test_push import made, project as project

from faultwire.errors import FaultwireError
from faultwire.store.objects import Objects
from faultwire.store.tapes import kept, pull, push

FULL = b"<?xml version='1.0'?><Error><Code>QuotaExceeded</Code><Message>the bucket is full</Message></Error>"


class Quota(BaseHTTPRequestHandler):
    """A server before the one that speaks S3, which takes so many objects and no more."""

    protocol_version = "HTTP/1.1"
    behind = ""
    left = 0
    status = 403

    def do_PUT(self) -> None:
        if type(self).left <= 0:
            self.rfile.read(int(self.headers.get("content-length", 0)))
            self._answer(self.status, {"content-type": "application/xml"}, FULL)
            return
        type(self).left -= 1
        self.do_GET()

    def do_GET(self) -> None:
        body = self.rfile.read(int(self.headers.get("content-length", 0)))
        head = {name: value for name, value in self.headers.items() if name.lower() != "host"}
        with httpx.Client(trust_env=False) as client:
            found = client.request(self.command, f"{self.behind}{self.path}", headers=head, content=body)
        self._answer(found.status_code, dict(found.headers), found.content)

    do_HEAD = do_DELETE = do_POST = do_GET  # noqa: N815 - as the library names them

    def _answer(self, status: int, head: dict[str, str], body: bytes) -> None:
        self.send_response_only(status)
        for name, value in head.items():
            if name.lower() not in ("content-length", "transfer-encoding", "connection"):
                self.send_header(name, value)
        length = head.get("content-length", "0") if self.command == "HEAD" else str(len(body))
        self.send_header("content-length", length)
        self.end_headers()
        self.wfile.write(b"" if self.command == "HEAD" else body)

    def log_message(self, *_: Any) -> None:
        pass


@pytest.fixture
def quota(bucket: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[type[Quota]]:
    """The bucket behind a quota, which is `left`."""
    handler = type("Limited", (Quota,), {"behind": os.environ["AWS_ENDPOINT_URL"], "left": 0})
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    monkeypatch.setenv("AWS_ENDPOINT_URL", f"http://127.0.0.1:{server.server_address[1]}")
    yield handler
    server.shutdown()
    server.server_close()


@pytest.mark.parametrize("status", [403, pytest.param(507, marks=pytest.mark.nightly)])
@pytest.mark.parametrize("room", [0, 1, 2])
def test_a_full_bucket_has_no_half_of_a_tape_and_takes_it_once_there_is_room(
    quota: type[Quota], bucket: str, tmp_path: Path, room: int, status: int
) -> None:
    """A tape takes three objects: its piece, that of its seal, and the manifest."""
    quota.left, quota.status = room, status
    objects = Objects(bucket)
    (tape,) = made(tmp_path, 1)
    with pytest.raises(FaultwireError, match="cannot write") as raised:
        push(objects, tape, "shop")
    assert raised.value.code == "tapes.failed"
    assert "the same command goes on from there" in str(raised.value.hint)
    assert kept(objects, "shop") == []
    quota.left = 9
    done = push(objects, tape, "shop")
    assert done.known == room, "what was taken before is not sent again"
    assert pull(objects, done.digest, "shop", tmp_path / "back.tape").read_bytes() == tape.read_bytes()


def test_a_push_to_a_full_bucket_is_an_error_in_words_and_the_run_stays(
    quota: type[Quota], bucket: str, project: Project
) -> None:
    assert project.run("contract", "run", "-q").returncode == 0
    done = project.run("push", "last", "--tapes", bucket)
    assert done.returncode == 3, done.stderr
    assert "cannot write" in done.stderr
    assert "Traceback" not in done.stderr
    quota.left = 99
    assert project.run("push", "last", "--tapes", bucket).returncode == 0


ON_A_SMALL_DISK = 'mount -t tmpfs -o size=256k none "$0" && exec "$@"'
FILL = """
import sys
from pathlib import Path
from faultwire.errors import FaultwireError
from faultwire.store.objects import Objects
from faultwire.store.tapes import kept, push
objects, tape = Objects(sys.argv[1]), Path(sys.argv[2])
filler = Path(sys.argv[1]) / "filler"
filler.write_bytes(bytes(236 << 10))
try:
    push(objects, tape, "shop")
except FaultwireError as error:
    print(error.code, kept(objects, "shop"))
filler.unlink()
print(len(kept(objects, "shop")) or push(objects, tape, "shop").digest in kept(objects, "shop"))
"""


def test_a_folder_on_a_full_disk_has_no_half_of_a_tape(tmp_path: Path) -> None:
    """A file system of 256 KiB, for one process and its children alone."""
    (tape,) = made(tmp_path, 1)
    disk = tmp_path / "disk"
    disk.mkdir()
    before = ["unshare", "--user", "--map-root-user", "--mount", "sh", "-c"]
    if subprocess.run([*before, 'mount -t tmpfs none "$0"', str(disk)], capture_output=True).returncode:
        pytest.skip("this machine lets no user mount a file system of its own")
    words = [*before, ON_A_SMALL_DISK, str(disk), sys.executable, "-c", FILL, str(disk), str(tape)]
    done = subprocess.run(words, capture_output=True, text=True, timeout=120, check=False)
    assert done.stdout.splitlines() == ["tapes.failed []", "True"], (done.stdout, done.stderr)


def test_a_store_of_a_newer_schema_is_refused_before_the_first_invocation(project: Project) -> None:
    import sqlite3

    store = ("--store", "sqlite:///team.db")
    assert project.run("contract", "run", "-q", *store).returncode == 0
    with sqlite3.connect(project.folder / "team.db") as database:
        database.execute("UPDATE alembic_version SET version_num = '9999'")
    seen = project.folder / "seen"
    done = project.run("contract", "run", "-q", "--on", "local:1", *store, env={"TALKER_SEEN": str(seen)})
    assert (done.returncode, seen.exists()) == (2, False), done.stderr
    assert "found the schema `9999` in the store" in done.stderr
