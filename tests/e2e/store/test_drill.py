"""Backup and restore by the lines of the page, while pushes go on: both places are lost, and nothing that was
acknowledged before."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import threading
from contextlib import closing
from pathlib import Path
from typing import Any

import httpx
import pytest
import sqlalchemy as sa
from tests.e2e.play.conftest import TALKER, Project
from tests.e2e.store.conftest import PROGRAMS, as_user
from tests.e2e.store.test_push import made

from faultwire.errors import FaultwireError
from faultwire.store.database import in_project, open_engine
from faultwire.store.missing import compare
from faultwire.store.objects import Objects
from faultwire.store.results import Store, StoredRun
from faultwire.store.schema import runs
from faultwire.store.tapes import pull, push

PAGE = Path(__file__).parents[3] / "docs" / "howto" / "deploy.md"
ABOUT = {"command": "x", "status": "finished", "started_at": "t", "version": "1"}
PUSH = """
import hashlib, sys
from pathlib import Path
from faultwire.store.objects import Objects
from faultwire.store.results import Store, StoredRun
from faultwire.store.tapes import push
store, objects = Store.open(sys.argv[1], "shop"), Objects(sys.argv[2])
about = {"command": "ci", "status": "finished", "started_at": "2026-01-01T00:00:00+00:00", "version": "1"}
for path in map(Path, sys.argv[3:]):
    digest = hashlib.sha256(path.read_bytes()).hexdigest()
    store.add(StoredRun({"id": path.stem, **about}, {"contract": b'{"cells": []}'}, {"run.tape": digest}))
    push(objects, path, "shop")
    print(path.stem, digest, flush=True)
"""


def block(name: str) -> str:
    """The lines of the page that begin with this comment."""
    found = re.search(rf"^```sh\n# {name}\n(.*?)^```$", PAGE.read_text(), re.MULTILINE | re.DOTALL)
    assert found is not None
    return found[1]


def run(text: str, env: dict[str, str]) -> subprocess.CompletedProcess[str]:
    words = ["bash", "-euo", "pipefail", "-c", text]
    kept = {name: value for name, value in os.environ.items() if name != "AWS_CA_BUNDLE"}  # rclone refuses it
    return subprocess.run(words, env={**kept, **env}, capture_output=True, text=True, timeout=300)


@pytest.fixture
def places(tmp_path: Path, postgresql: Any, bucket: str) -> dict[str, str]:
    """What the page's lines name, and the URL of the service's own role."""
    if shutil.which("rclone") is None:
        pytest.skip("rclone is not installed (Debian: apt-get install rclone)")
    (tmp_path / "backup").mkdir()
    rclone = {"TYPE": "s3", "PROVIDER": "Other", "ENDPOINT": os.environ["AWS_ENDPOINT_URL"],
              "ACCESS_KEY_ID": "test", "SECRET_ACCESS_KEY": "test", "REGION": "us-east-1"}  # fmt: skip
    return {
        "DATABASE": postgresql.url("admin"), "BACKUP": str(tmp_path / "backup"),
        "STORE": postgresql.url("team"),
        "WORK": str(tmp_path / "shop"), "TAPES": bucket,
        **{f"RCLONE_CONFIG_TEAM_{name}": value for name, value in rclone.items()},
    }  # fmt: skip


def lose(postgresql: Any) -> None:
    """The server is killed and its disk is gone, and so is what the bucket had; new ones stand there then."""
    postgresql.kill()
    shutil.rmtree(postgresql.folder / "data")
    words = [str(PROGRAMS[-1].with_name("initdb")), "-D", str(postgresql.folder / "data"), "-U", "admin"]
    subprocess.run([*words, "-A", "trust", "--no-sync"], check=True, capture_output=True, **as_user())
    postgresql.start()
    for role in ("team", "other"):
        postgresql.run("psql", "-U", "admin", "-d", "postgres", "-c", f"CREATE ROLE {role} LOGIN")
    postgresql.run("createdb", "-U", "admin", "-O", "team", "results")
    with httpx.Client(trust_env=False, base_url=os.environ["AWS_ENDPOINT_URL"]) as client:
        client.post("/moto-api/reset").raise_for_status()
        client.put("/team").raise_for_status()


@pytest.mark.nightly
def test_all_that_was_acknowledged_before_a_backup_is_there_after_the_loss_of_both_places(
    tmp_path: Path, postgresql: Any, places: dict[str, str]
) -> None:
    (tmp_path / "shop").mkdir()
    shutil.copy(TALKER, tmp_path / "shop" / "talker.py")
    project = Project(tmp_path / "shop")
    project.write(
        contract={"name": "c", "invariants": [{"type": "completes"}], "chaos_matrix": [{"name": "calm"}]}
    )
    store, tapes = ("--store", places["STORE"]), ("--tapes", places["TAPES"])
    for _ in range(2):
        assert project.run("contract", "run", "-q").returncode == 0
        done = project.run("push", "last", *store, *tapes)
        assert done.returncode == 0, done.stderr
    real = {path.name for path in project.runs}
    many = made(tmp_path, 400)
    acknowledged: list[tuple[str, str]] = []
    some, backed_up, more = threading.Event(), threading.Event(), threading.Event()
    words = [sys.executable, "-c", PUSH, places["STORE"], places["TAPES"], *map(str, many)]
    with subprocess.Popen(words, stdout=subprocess.PIPE, text=True) as pusher:

        def follow() -> None:
            assert pusher.stdout is not None
            for line in pusher.stdout:
                name, digest = line.split()
                acknowledged.append((name, digest))
                if len(acknowledged) >= 10:
                    some.set()
                if backed_up.is_set():
                    more.set()

        thread = threading.Thread(target=follow)
        thread.start()
        assert some.wait(120)
        before = list(acknowledged)
        done = run(block("back up"), places)
        assert done.returncode == 0, done.stderr
        during = len(acknowledged)
        backed_up.set()
        assert more.wait(120), "pushes still go on after the backup"
        pusher.kill()
        thread.join()
    assert during > len(before), "pushes went on while the backup was made"
    lose(postgresql)
    done = run(block("restore"), places)
    assert done.returncode == 0, done.stderr
    check = project.run("push", "--check", *store, *tapes)
    known = {name for name, _ in before} | real
    digests = {digest for _, digest in before}
    for line in check.stdout.splitlines():
        assert "lacks" not in line
        assert not any(word in line for word in known | digests), line
    with closing(Store.open(places["STORE"], "shop")) as restored:
        assert known <= {found["id"] for found in restored.runs(1000)}
        for name in real:
            assert restored.report(name, "contract")["score"] is not None
        with pytest.raises(FaultwireError, match="another content"):
            restored.add(StoredRun({**ABOUT, "id": before[0][0]}, {"contract": b'{"cells": []}'}))
    objects = Objects(places["TAPES"])
    for number, digest in enumerate(sorted(digests)):
        pull(objects, digest, "shop", tmp_path / f"back{number}.tape")  # whole and verified, or it raises
    out_of_reach(places["STORE"])
    print(
        f"{len(before)} before, {during} at the end of the backup, {len(acknowledged)} in all: {check.stderr}"
    )


def out_of_reach(url: str) -> None:
    """Row-level security, and that rows are only added, came back with the dump."""
    engine = open_engine(url)
    for project, there in (("shop", True), ("other", False), ("", False)):
        with in_project(engine, project) as connection:
            assert bool(connection.scalar(sa.select(sa.func.count()).select_from(runs))) is there
    forged = (
        "INSERT INTO runs (project, id, content, command, status, started_at, version) "
        "VALUES ('shop', 'x', 'c', 'run', 'finished', 't', '1')"
    )
    for statement, words in (("DELETE FROM cells", "are only added"), (forged, "row-level security")):
        project = "shop" if "DELETE" in statement else "other"
        with pytest.raises(FaultwireError, match=words), in_project(engine, project) as connection:
            connection.execute(sa.text(statement))
    engine.dispose()


def test_a_dump_by_the_service_s_own_role_is_refused_and_not_a_part(
    postgresql: Any, places: dict[str, str]
) -> None:
    """The control: row-level security would hide rows from it."""
    with closing(Store.open(places["STORE"], "shop")):
        pass
    line = block("back up").splitlines()[0]
    done = run(line, {**places, "DATABASE": places["STORE"]})
    assert done.returncode != 0
    assert "row-level security" in done.stderr


def test_pieces_that_are_copied_before_manifests_may_be_too_few_and_that_is_found(
    tmp_path: Path, places: dict[str, str]
) -> None:
    """The control for the order of the copies: the other one leaves a tape that lacks pieces."""
    first, second = made(tmp_path, 2)
    objects, (manifests, pieces) = Objects(places["TAPES"]), block("back up").splitlines()[1:3]
    push(objects, first, "shop")
    for lines, lacking in (((manifests, pieces), 0), ((pieces, manifests), 1)):
        backup = tmp_path / f"backup{lacking}"
        env = {**places, "BACKUP": str(backup)}
        assert run(lines[0], env).returncode == 0
        push(objects, second, "shop")
        assert run(lines[1], env).returncode == 0
        engine = open_engine(f"sqlite:///{tmp_path}/{lacking}.db")
        found = compare(engine, Objects(str(backup / "tapes")), "shop")
        assert len([one for one in found.missing if one.kind == "pieces"]) == lacking
        engine.dispose()
        for name, _ in list(objects.list("")):
            objects.delete(name)
        push(objects, first, "shop")
