"""kill -9 of the service, the database, the bucket and the uploader amid 500 uploads."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from tests.e2e.agents.environments import node
from tests.e2e.service.conftest import Service, serving, token

from faultwire.errors import FaultwireError
from faultwire.store.objects import Objects
from faultwire.store.tapes import kept, pull
from faultwire.tape.evidence.signed_note import SignerKey
from faultwire.tape.evidence.verify import evidence_class, verify
from faultwire.tape.record.writer import TapeWriter

UPLOADER = """
import http.client, json, sys, time
from pathlib import Path
from urllib.parse import urlsplit
from faultwire.errors import FaultwireError
from faultwire.store.objects import Objects
from faultwire.store.tapes import push
from tests.unit.service.conftest import pushed

bucket, folder, token = sys.argv[1:4]

def until_done(act):
    while True:
        try:
            return act()
        except (FaultwireError, OSError, http.client.HTTPException, ValueError):
            time.sleep(0.05)  # what was killed comes back

def post(name):
    place = urlsplit(Path(folder, "service").read_text())
    line = http.client.HTTPConnection(place.hostname, place.port, timeout=20)
    try:
        line.request("POST", "/api/projects/shop/runs", json.dumps(pushed(name, 3, 4)),
                     {"authorization": f"Bearer {token}"})
        if line.getresponse().status not in (200, 201):
            raise OSError("not kept")
    finally:
        line.close()

for path in map(Path, sys.stdin.read().split()):
    done = until_done(lambda: push(Objects(bucket), path, "shop"))
    until_done(lambda: post(path.stem))
    print(path.stem, done.digest, flush=True)
"""


def authoritative(path: Path, signer: SignerKey) -> Path:
    """A tape as a proxy records and seals one."""
    writer = TapeWriter.create(path, origin=f"shop/{path.stem}", settings={}, signer=signer)
    writer.open_session("s", profile="p", profile_digest="", seed=1)
    writer.close_session("s")
    writer.close()
    assert writer.failed is None
    return path


class Bucket:
    """An S3 server that keeps its objects in a folder."""

    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        with socket.create_server(("127.0.0.1", 0)) as free:
            self.port = free.getsockname()[1]
        self.folder = folder
        for name, value in {
            "AWS_ENDPOINT_URL": f"http://127.0.0.1:{self.port}",
            "AWS_ACCESS_KEY_ID": "S3RVER",
            "AWS_SECRET_ACCESS_KEY": "S3RVER",
            "AWS_REGION": "us-east-1",
        }.items():
            monkeypatch.setenv(name, value)
        self.start()

    def start(self) -> None:
        words = ["node", "agent.mjs", str(self.folder), str(self.port), "team"]
        self.process = subprocess.Popen(
            words, cwd=node("s3_server"), stdout=subprocess.PIPE, text=True, env={"PATH": os.environ["PATH"]}
        )
        assert self.process.stdout is not None
        assert self.process.stdout.readline() == "listens\n"

    def kill(self) -> None:
        self.process.kill()
        self.process.wait()
        assert self.process.stdout is not None
        self.process.stdout.close()


@pytest.mark.cold
@pytest.mark.nightly
@pytest.mark.parametrize("count", [40, 500])
def test_nothing_that_was_acknowledged_is_lost_whatever_is_killed(
    tmp_path: Path, postgresql: Any, monkeypatch: pytest.MonkeyPatch, count: int
) -> None:
    signer = SignerKey.fresh("test")
    tapes = {
        path.stem: path for path in (authoritative(tmp_path / f"t{n}.tape", signer) for n in range(count))
    }
    store, objects_folder = postgresql.url("team"), tmp_path / "bucket"
    objects_folder.mkdir()
    bucket = Bucket(objects_folder, monkeypatch)
    runner = token(tmp_path, store, "runner")
    acknowledged: dict[str, str] = {}
    with ExitStack() as stack:
        stack.callback(bucket.kill)
        at, step, killed = 0, count // 8, []
        while at < count:
            with serving(tmp_path, store) as service:
                (tmp_path / "service").write_text(service.url)
                at = _upload(tmp_path, runner, tapes, acknowledged, step, bucket, postgresql, service, killed)
        assert killed[:4] == ["bucket", "database", "uploader", "service"]
        assert len(killed) >= 7
        objects = Objects("s3://team/tapes")
        there = kept(objects, "shop")
        assert set(acknowledged.values()) <= set(there)
        whole = 0
        for digest in there:
            target = tmp_path / f"back-{digest}.tape"
            try:
                pull(objects, digest, "shop", target)
            except FaultwireError:
                assert digest not in acknowledged.values()
                assert not target.exists()
                continue
            report = verify(target, [signer.verifier], demanded=True)
            assert evidence_class(report)[0] == "AUTHORITATIVE"
            name = next(name for name, found in acknowledged.items() if found == digest)
            assert target.read_bytes() == tapes[name].read_bytes()
            whole += 1
        with serving(tmp_path, store) as service:
            runs: set[str] = set()
            for name in acknowledged:
                status, _ = service.ask("GET", f"/api/projects/shop/runs/{name}", runner)
                if status == 200:
                    runs.add(name)
        assert (whole, runs) == (count, set(acknowledged))
        print(f"{count} uploads, killed {killed}: {whole} tapes whole, {len(runs)} runs there")


def _upload(
    folder: Path, runner: str, tapes: dict[str, Path], acknowledged: dict[str, str], step: int,
    bucket: Bucket, postgresql: Any, service: Service, killed: list[str],
) -> int:  # fmt: skip
    """Upload what is left until something is killed that ends this round; how many are acknowledged."""
    words = [sys.executable, "-c", UPLOADER, "s3://team/tapes", str(folder), runner]
    root = str(Path(__file__).parents[3])
    with subprocess.Popen(
        words, cwd=root, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write("\n".join(str(path) for name, path in tapes.items() if name not in acknowledged))
        process.stdin.close()
        for line in process.stdout:
            name, digest = line.split()
            acknowledged[name] = digest
            if len(acknowledged) % step or len(acknowledged) == len(tapes):
                continue
            turn = ["bucket", "database", "uploader", "service"][len(killed) % 4]
            killed.append(turn)
            if turn == "bucket":
                bucket.kill()
                bucket.start()
            elif turn == "database":
                postgresql.kill()
                postgresql.start()
            elif turn == "uploader":
                process.kill()
            else:
                service.process.kill()
                service.process.wait()
                process.kill()
    return len(acknowledged)
