"""Two commits by rounds in turn: the CPU that an exchange costs the engine now, over what it cost then.

`python -m tests.bench --compare COMMIT` takes the package of another commit out of Git, with a core of its
own where that differs, and starts an engine of either. Every round measures both, in changing order; what is
shown is the median of the ratios with an interval for it.
"""

from __future__ import annotations

import io
import json
import os
import shutil
import subprocess
import sys
import tarfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.bench import curves, subjects
from tests.bench.children import ROOT
from tests.bench.curves import Point
from tests.bench.rig import Rig
from tests.bench.rounds import Row
from tests.bench.subjects import Subject

from faultwire import child_process
from faultwire.mitm.engine.client import Engine

CORE = ("core_rs", "Cargo.toml", "Cargo.lock")
ROUNDS = {False: 12, True: 6}
MATCHING = "".join(
    f"  - status: {{code: 503}}\n    on: {{kind: llm}}\n    {subjects.NEVER}\n" for _ in range(100)
)
POINTS = (
    Point(0, "2 KB JSON, 16 kept connections"),
    Point(0, "the same, no entry matches", profile=subjects.IDLE),
    Point(0, "one after the other", connections=1),
    Point(0, "one after the other, plain", connections=1, plain=True),
    Point(0, "one after the other, pauses of 50 ms", connections=1, pause_s=0.05),
    Point(0, "100 entries that match", profile="faults:\n" + MATCHING),
    Point(0, "conversation of 1 message", messages=1, size=0),
    Point(0, "conversation of 400 messages", messages=400, size=0),
    Point(0, "request of 1 MB", messages=1, size=1_000_000, connections=4),
    Point(0, "answer of 1 MB", answer=1_000_000, connections=4),
)


def run(rig: Rig, commit: str, *, quick: bool) -> list[Row]:
    """A row for each point. Raises RuntimeError where Git does not know the commit, or it does not build."""
    tree = checked_out(commit)
    rows: list[Row] = []
    for number, point in enumerate(POINTS):
        with (
            opened(rig, tree, point, f"then{number}") as then,
            opened(rig, None, point, f"now{number}") as now,
        ):
            rows.append(row(rig, point, now, then, commit, quick=quick))
            print(text(rows[-1]), file=sys.stderr, flush=True)
    return rows


def row(rig: Rig, point: Point, now: Subject, then: Subject, commit: str, *, quick: bool) -> Row:
    """Both in turn, first one first, then the other."""
    found = Row(
        "compare", point.name, "faultwire", "ms CPU", baseline=f"commit {commit}", more_is_better=False
    )
    count = max(curves.fitting(rig, one, point) for one in (now, then))
    for number in range(ROUNDS[quick]):
        first, second = (now, then) if number % 2 else (then, now)
        ms = {one.name: curves.cost(rig, one, point, count) for one in (first, second)}
        found.rounds.append(ms[now.name])
        found.ratios.append(ms[now.name] / ms[then.name])
    middle, low, high = curves.interval(found.ratios)
    found.note = f"{middle:.3f} × of {commit}, 95 % interval {low:.3f} to {high:.3f}"
    return found


def text(one: Row) -> str:
    return f"{one.title}: {one.value:.3f} ms CPU an exchange, {one.note}"


@contextmanager
def opened(rig: Rig, tree: Path | None, point: Point, name: str) -> Iterator[Subject]:
    """An engine of this tree, or of another one, with a session under the profile of a point."""
    settings = subjects.settings(rig.folder / name, rig.keys)
    if tree is None:
        starting = Engine.start(settings)
    else:
        settings.run_dir.mkdir(mode=0o700, parents=True)
        main = tree / "proxy" / "faultwire" / "child_main.py"
        command = [sys.executable, "-I", "-O", str(main), "faultwire.mitm"]
        process = child_process.spawn(command, settings.run_dir / "engine.log", environment(tree))
        if process.stdin is None:
            raise RuntimeError("the engine was started without pipes")
        process.stdin.write(settings.model_dump_json().encode() + b"\n")
        process.stdin.flush()
        starting = Engine(process, child_process.first_word(process, "engine", None))
    with starting as engine:
        yield subjects.opened(engine, "bench", point.profile or subjects.ARMED, rig.port, name)


ASK = (
    "import json, sys; from faultwire.mitm.engine import client; json.dump(client._environment(), sys.stdout)"
)


def environment(tree: Path) -> dict[str, str]:
    """What the client of a tree starts its engine with: how it deals with memory is in there."""
    path = {**os.environ, "PYTHONPATH": str(tree / "proxy")}
    done = subprocess.run([sys.executable, "-c", ASK], env=path, stdout=subprocess.PIPE, check=True)
    found: dict[str, str] = json.loads(done.stdout)
    return found


def checked_out(commit: str) -> Path:
    """The package of a commit, with its core, in a folder of its own; made once for each."""
    folder = (
        ROOT / "target" / "compare" / git("rev-parse", "--verify", f"{commit}^{{commit}}").decode().strip()
    )
    place = folder / "proxy" / "faultwire" / "_core.abi3.so"
    if place.exists():
        return folder
    packed = git("archive", "--format=tar", commit)
    with tarfile.open(fileobj=io.BytesIO(packed)) as archive:
        archive.extractall(folder, filter="data")
    built = ROOT / "proxy" / "faultwire" / "_core.abi3.so"
    if git("diff", "--name-only", commit, "--", *CORE):
        # Not into our own target: a build script knows the folder in which it was built.
        command = ["cargo", "build", "--release", "--quiet", "-p", "faultwire-py", "--target-dir", "target"]
        done = subprocess.run(command, cwd=folder, check=False)
        if done.returncode:
            raise RuntimeError(f"the core of {commit} does not build")
        built = folder / "target" / "release" / "lib_core.so"
    shutil.copy(built, place)
    return folder


def git(*arguments: str) -> bytes:
    """What Git prints. Raises RuntimeError where it fails."""
    done = subprocess.run(["git", *arguments], cwd=ROOT, capture_output=True, check=False)
    if done.returncode:
        raise RuntimeError(f"git {arguments[0]}: {done.stderr.decode().strip()}")
    return done.stdout
