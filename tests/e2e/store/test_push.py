"""`--store`, `push`, `pull` and `gc` from the command line: a run goes to the team and back."""

from __future__ import annotations

import os
import signal
import sqlite3
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from tests.e2e.play.conftest import TALKER, Project

from faultwire.errors import FaultwireError, TapeTampered
from faultwire.store.objects import Objects
from faultwire.store.tapes import kept, pull, push
from faultwire.tape.evidence.signed_note import SignerKey
from faultwire.tape.files.collect import collect


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Project:
    for name in list(os.environ):
        if name.lower().endswith("_proxy") or name.startswith(("FAULTWIRE_", "SSL_CERT", "TALKER")):
            monkeypatch.delenv(name)
    folder = tmp_path / "shop"
    folder.mkdir()
    (folder / "talker.py").write_bytes(TALKER.read_bytes())
    found = Project(folder)
    found.write(
        contract={"name": "c", "invariants": [{"type": "completes"}], "chaos_matrix": [{"name": "calm"}]}
    )
    return found


def test_a_run_is_stored_pushed_and_pulled(project: Project, tmp_path: Path) -> None:
    (tmp_path / "team").mkdir()
    store, tapes = ("--store", "sqlite:///../team.db"), ("--tapes", "../team")
    done = project.run("contract", "run", "-q", "--on", "local:1", *store)
    assert done.returncode == 0, done.stderr
    with sqlite3.connect(tmp_path / "team.db") as database:
        assert database.execute("SELECT project, gate FROM runs").fetchall() == [("shop", "pass")]
        assert database.execute("SELECT count(*) FROM cells").fetchone() == (2,)
    done = project.run("push", "last", *store, *tapes)
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert lines[0].endswith("is already in the store")
    assert len(lines) == 3  # the run's tape, and that of the worker
    digest = lines[1].split()[0]
    done = project.run("pull", digest[:12], *tapes, "-o", "back.tape")
    assert done.returncode == 0, done.stderr
    assert (project.folder / "back.tape").read_bytes() == (project.runs[-1] / "run.tape").read_bytes()
    assert project.run("tape", "verify", "back.tape").returncode == 0
    done = project.run("pull", digest, *tapes, "--project", "other", "-o", "other.tape")
    assert done.returncode == 2
    assert "found 0 tapes of the project `other`" in done.stderr
    done = project.run("gc", *tapes)
    assert (done.returncode, done.stdout) == (0, "")
    assert "removed 0 pieces" in done.stderr


def test_a_store_that_cannot_be_used_is_refused_before_the_first_invocation(project: Project) -> None:
    seen = project.folder / "seen"
    env = {"TALKER_SEEN": str(seen)}
    for url in ("mysql://h/d", "sqlite:////none/there/x.db", "postgresql://team@127.0.0.1:9/x"):
        done = project.run("contract", "run", "-q", "--store", url, env=env)
        assert done.returncode in (2, 3), done.stderr
        assert "Traceback" not in done.stderr
    assert not seen.exists()


def made(folder: Path, count: int) -> list[Path]:
    signer = SignerKey.fresh("test")
    paths = [folder / f"t{number}.tape" for number in range(count)]
    for path in paths:
        collect({}, path, f"test/{path.stem}", signer)
    return paths


def test_a_bucket_keeps_tapes_and_whatever_is_bent_in_it_is_found(bucket: str, tmp_path: Path) -> None:
    objects = Objects(bucket)
    (tape,) = made(tmp_path, 1)
    done = push(objects, tape, "shop")
    again = push(objects, tape, "shop")
    assert (done.known, again.sent) == (0, 0)
    assert pull(objects, done.digest, "shop", tmp_path / "b.tape").read_bytes() == tape.read_bytes()
    for name, _ in list(objects.list("blobs/")):
        data = objects.get(name) or b""
        objects.put(name, data[:-1] + bytes([data[-1] ^ 1]))
        with pytest.raises(TapeTampered):
            pull(objects, done.digest, "shop", tmp_path / "c.tape")
        objects.put(name, data)
    pull(objects, done.digest, "shop", tmp_path / "c.tape")
    with pytest.raises(FaultwireError) as raised:
        Objects("s3://no-such-bucket/x").put("blobs/aa/x", b"")
    assert raised.value.code == "tapes.failed"


PUSH = """
import sys
from pathlib import Path
from faultwire.store.objects import Objects
from faultwire.store.tapes import push
objects = Objects(sys.argv[1])
for path in sys.argv[2:]:
    print(push(objects, Path(path), "shop").digest, flush=True)
"""


@pytest.mark.parametrize("count", [12, pytest.param(500, marks=pytest.mark.nightly)])
def test_uploads_that_are_killed_leave_no_half_of_a_tape_and_what_was_acknowledged_is_whole(
    bucket: str, tmp_path: Path, count: int
) -> None:
    tapes = made(tmp_path, count)
    words = [sys.executable, "-c", PUSH, bucket, *map(str, tapes)]
    acknowledged: list[str] = []
    with subprocess.Popen(words, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        for line in process.stdout:
            acknowledged.append(line.strip())
            if len(acknowledged) == count // 2:
                os.kill(process.pid, signal.SIGKILL)
    objects = Objects(bucket)
    there = kept(objects, "shop")
    assert set(acknowledged) <= set(there)
    assert count // 2 <= len(there) < count
    for number, digest in enumerate(there):
        pull(objects, digest, "shop", tmp_path / f"back{number}.tape")  # whole, or it raises
    for tape in tapes:
        push(objects, tape, "shop")
    assert len(kept(objects, "shop")) == count


def test_the_commands_say_what_they_lack(project: Any) -> None:
    for arguments, code in ((("push", "last"), 2), (("gc", "--tapes", "/none"), 2), (("push", "x"), 2)):
        assert project.run(*arguments).returncode == code


def test_what_is_missing_between_both_places_is_named_and_then_not(project: Project, tmp_path: Path) -> None:
    (tmp_path / "team").mkdir()
    store, tapes = ("--store", "sqlite:///../team.db"), ("--tapes", "../team")
    assert project.run("contract", "run", "-q", *store).returncode == 0
    run = project.runs[-1].name
    check = ("push", "--check", *store, *tapes)
    done = project.run(*check)
    assert (done.returncode, done.stdout.count("\n")) == (1, 1), done.stderr
    assert done.stdout.startswith(f"run {run}: its tape run.tape (")
    assert project.run("push", "last", *tapes).returncode == 0
    done = project.run(*check)
    assert (done.returncode, done.stdout) == (0, ""), done.stderr
    assert "1 run, 1 tape: nothing is missing from `shop`" in done.stderr
    (piece, *_) = sorted((tmp_path / "team" / "blobs").glob("*/*"))
    kept = piece.read_bytes()
    piece.unlink()
    done = project.run(*check)
    assert (done.returncode, "it lacks 1 piece" in done.stdout) == (1, True)
    piece.write_bytes(kept)
    (tmp_path / "team.db").rename(tmp_path / "lost.db")
    done = project.run(*check)
    assert (done.returncode, "no run in the store has it" in done.stdout) == (1, True)
    service = ("--store", "https://team.example")
    for wrong in (store, tapes, ("last", *store, *tapes), (*service, *tapes)):
        assert project.run("push", "--check", *wrong).returncode == 2


def test_what_explain_found_goes_to_the_store_with_the_run(project: Project, tmp_path: Path) -> None:
    down = {"name": "down", "faults": [{"status": {"code": 503}, "on": {"host": "*"}}]}
    guess = {"type": "excludes_pattern", "id": "no-guess", "patterns": ["Surely"], "severity": "high"}
    project.write(contract={"name": "c", "invariants": [guess], "chaos_matrix": [down]}, invariants=None)
    careless = {"TALKER": "careless"}
    done = project.run("ci", "-q", "--explain", "60", "--store", "sqlite:///../team.db", env=careless)
    assert "Traceback" not in done.stderr
    (path,) = sorted(project.runs[-1].glob("blame-*.json"))[:1]
    with sqlite3.connect(tmp_path / "team.db") as database:
        known = database.execute("SELECT run, count(*) FROM blames GROUP BY run").fetchall()
    assert known == [(project.runs[-1].name, len(sorted(project.runs[-1].glob("blame-*.json"))))]
    again = project.run("push", "last", "--blame", str(path), "--store", "sqlite:///../team.db")
    assert again.returncode == 0, again.stderr
    assert "is already in the store" in again.stdout
    other = tmp_path / "other.json"
    other.write_text(path.read_text().replace(project.runs[-1].name, "20200101-000000-aaaa"))
    refused = project.run("push", "last", "--blame", str(other), "--store", "sqlite:///../team.db")
    assert (refused.returncode, "expected a tape of the run" in refused.stderr) == (2, True)
    alone = project.run("push", "last", "--blame", str(path), "--tapes", "../team")
    assert (alone.returncode, "expected one run and --store with it" in alone.stderr) == (2, True)
