"""Mutants of the core with cargo-mutants, in a copy of the workspace, one after the other in place.

In place, every mutant costs an incremental build of one crate; a copy keeps the sources of whoever works
beside it. Dependencies are built once, with optimisation, and stay in `target/mutation`. One run at a time:
rooms share a tree and a build.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
from pathlib import Path

from tests.mutation.outcome import Mutant, Status
from tests.mutation.rooms import CoreRoom

ROOT = Path(__file__).parents[2]
WORK = ROOT / "target" / "mutation" / "core"
STATUS: dict[str, Status] = {
    "CaughtMutant": "killed",
    "Timeout": "timeout",
    "MissedMutant": "survived",
    "Unviable": "unviable",
}
PROFILE = """
[profile.dev]
debug = false
[profile.dev.package."*"]
opt-level = 2
"""
TIMEOUT = 30
"""Seconds for the tests of one mutant; without one they take a second or two."""
PLACE = re.compile(r"^(?P<file>[^:]+):(?P<line>\d+):(?P<column>\d+): (?P<change>.+)$")


def mutants(room: CoreRoom, shard: str | None = None) -> list[Mutant]:
    """Make and test every mutant of a room, or of a shard (`0/4`). Raises RuntimeError where the tests fail
    without one, or where cargo-mutants does not come to an end."""
    work = WORK / "tree"
    prepare(work, room)
    tests = ["--", *room.tests]
    environment = {**os.environ, "CARGO_TARGET_DIR": str(WORK / "build")}
    plain = ["cargo", "test", "--quiet", "-p", "faultwire-core", *tests]
    subprocess.run(plain, cwd=work, env=environment, check=True)
    out = WORK / f"{room.name}.out"
    shutil.rmtree(out, ignore_errors=True)
    command = [
        "cargo", "mutants", "--in-place", "--package", "faultwire-core", "--baseline", "skip", "--no-shuffle",
        "--timeout", str(TIMEOUT), "--output", str(out), "--colors", "never",
        *(option for source in room.sources for option in ("--file", source)),
        *(("--shard", shard) if shard else ()),
        "--", *tests,
    ]  # fmt: skip
    done = subprocess.run(command, cwd=work, env=environment, check=False)
    if done.returncode not in (0, 2, 3):  # all caught, some missed, some timed out
        raise RuntimeError(f"cargo-mutants ended with {done.returncode}, expected 0, 2 or 3")
    return outcomes(out / "mutants.out" / "outcomes.json", work)


def prepare(work: Path, room: CoreRoom) -> None:
    """A fresh copy of what the rooms need, so that a mutant costs a build of that much only. Files that are
    the same keep their times, so that cargo builds what changed."""
    wanted = {
        path.relative_to(ROOT): path.read_text()
        for folder in ("core_rs/src", "core_rs/tests", "tests/vectors")
        for path in sorted((ROOT / folder).rglob("*.*"))
        if path.suffix in (".rs", ".json") and (path.parent.name != "tests" or path.stem in room.programs)
    }
    library = Path("core_rs/src/lib.rs")
    unneeded = rf"^pub mod (?!(?:{'|'.join(room.modules)});)\w+;\n"
    wanted[library] = re.sub(unneeded, "", wanted[library], flags=re.MULTILINE)
    manifest = (ROOT / "core_rs/Cargo.toml").read_text()
    manifest = manifest.partition("[dev-dependencies]")[0]  # from there to the end: benchmarks
    wanted[Path("core_rs/Cargo.toml")] = manifest + "[lib]\ndoctest = false\n"
    workspace = (ROOT / "Cargo.toml").read_text().replace(', "core_rs/py"', "")
    wanted[Path("Cargo.toml")] = workspace + PROFILE
    wanted[Path("Cargo.lock")] = (ROOT / "Cargo.lock").read_text()
    for path in (work / "core_rs").rglob("*.rs"):
        if path.relative_to(work) not in wanted:
            path.unlink()
    for path, text in wanted.items():
        target = work / path
        if not target.exists() or target.read_text() != text:
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text(text)


def outcomes(path: Path, work: Path) -> list[Mutant]:
    """What cargo-mutants wrote down, with the text of each mutated line."""
    found = []
    for one in json.loads(path.read_text())["outcomes"]:
        if one["scenario"] == "Baseline":
            continue
        place = PLACE.match(one["scenario"]["Mutant"]["name"])
        if place is None:
            raise RuntimeError(
                f"found the mutant `{one['scenario']['Mutant']['name']}`, expected file:line:column"
            )
        lines = (work / place["file"]).read_text().splitlines()
        text = lines[int(place["line"]) - 1].strip()
        found.append(
            Mutant(place["file"], text, place["change"], STATUS[one["summary"]], f":{place['line']}")
        )
    return found
