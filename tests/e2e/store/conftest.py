"""A PostgreSQL server and a bucket, started here and for these tests alone."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest

PROGRAMS = sorted(Path("/usr/lib/postgresql").glob("*/bin/postgres"))
NO_SERVER = "PostgreSQL's server is not installed (Debian: apt-get install postgresql)"
USER = "postgres"


@dataclass
class Server:
    """A server of PostgreSQL on a socket in its folder, which can be killed and started again."""

    folder: Path
    port: int
    process: subprocess.Popen[bytes] | None = field(default=None)

    def url(self, user: str, database: str = "results") -> str:
        return f"postgresql://{user}@/{database}?host={self.folder}&port={self.port}"

    def start(self) -> None:
        words = [PROGRAMS[-1], "-D", self.folder / "data", "-k", self.folder, "-p", str(self.port), "-h", ""]
        with (self.folder / "log").open("ab") as log:
            self.process = subprocess.Popen(list(map(str, words)), stdout=log, stderr=log, **as_user())
        self.run("pg_isready", "-t", "60", until=True)

    def run(self, program: str, *arguments: str, until: bool = False) -> None:
        words = [
            str(PROGRAMS[-1].with_name(program)),
            "-h",
            str(self.folder),
            "-p",
            str(self.port),
            *arguments,
        ]
        while True:
            done = subprocess.run(words, capture_output=True, text=True, **as_user())
            if not done.returncode:
                return
            alive = self.process is not None and self.process.poll() is None
            assert until, done.stderr
            assert alive, (self.folder / "log").read_text()

    def kill(self) -> None:
        """As by a loss of power: no process of it is left, and nothing was written that was not yet."""
        assert self.process is not None
        self.process.kill()
        self.process.wait()


def as_user() -> dict[str, str]:
    """PostgreSQL refuses to run as root."""
    return {"user": USER, "group": USER} if os.geteuid() == 0 else {}


@pytest.fixture(scope="module")
def postgresql() -> Iterator[Server]:
    if not PROGRAMS:
        pytest.skip(NO_SERVER)
    folder = Path("/tmp") / f"faultwire-pg-{os.getpid()}"  # the path of a socket is short
    folder.mkdir(mode=0o700)
    try:
        if os.geteuid() == 0:
            shutil.chown(folder, USER, USER)
        initdb = PROGRAMS[-1].with_name("initdb")
        words = [str(initdb), "-D", str(folder / "data"), "-U", "admin", "-A", "trust", "--no-sync"]
        subprocess.run(words, check=True, capture_output=True, **as_user())
        server = Server(folder, 5432)
        server.start()
        for role in ("team", "other"):
            server.run("psql", "-U", "admin", "-d", "postgres", "-c", f"CREATE ROLE {role} LOGIN")
        server.run("createdb", "-U", "admin", "-O", "team", "results")
        yield server
        server.kill()
    finally:
        shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture
def bucket(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """`s3://team/tapes` on a server that speaks S3 (moto)."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    log = (tmp_path / "moto.log").open("wb")
    words = [sys.executable, "-m", "moto.server", "-H", "127.0.0.1", "-p", str(port)]
    process = subprocess.Popen(words, stdout=log, stderr=log)
    try:
        while True:
            assert process.poll() is None, (tmp_path / "moto.log").read_text()
            try:
                socket.create_connection(("127.0.0.1", port), timeout=5).close()
                break
            except OSError:
                continue
        for name, value in {
            "AWS_ENDPOINT_URL": f"http://127.0.0.1:{port}",
            "AWS_ACCESS_KEY_ID": "test",
            "AWS_SECRET_ACCESS_KEY": "test",
            "AWS_REGION": "us-east-1",
        }.items():
            monkeypatch.setenv(name, value)
        import httpx

        httpx.put(f"http://127.0.0.1:{port}/team", trust_env=False).raise_for_status()
        yield "s3://team/tapes"
    finally:
        process.kill()
        process.wait()
        log.close()
