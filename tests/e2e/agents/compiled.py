"""Agents of compiled languages: built once from a locked environment, and kept beside the others'.

`go.sum` and `Cargo.lock` hold the hashes of what is downloaded. Maven has no such file: the jars are held
against the hashes of `jars.sha256` before anything is compiled.
"""

from __future__ import annotations

import hashlib
import os
import shutil
from pathlib import Path

from tests.e2e.agents import environments

HERE = Path(__file__).parent
CARGO = Path.home() / ".cargo" / "bin" / "cargo"
LIMIT_S = 1800
"""Of one step: a busy machine takes minutes for all crates."""


def _needed(program: str, package: str) -> str:
    found = shutil.which(program)
    if found is None:
        raise AssertionError(f"{program} is needed: apt-get install {package}")
    return found


def _place(environment: Path, source: Path, build: list[list[str]]) -> Path:
    """The folder of a program, which is named after its source and every file of its environment."""
    files = [*sorted(file for file in environment.iterdir() if file != source), source]
    digest = hashlib.sha256(b"\0".join(file.read_bytes() for file in files)).hexdigest()[:12]
    place: Path = environments.CACHE / f"{environment.name}-{source.stem}-{digest}"
    if not place.exists():
        copy = ["cp", *map(str, files), "."]
        environments._built(place, [copy, *build], limit_s=LIMIT_S)
    return place


def go(environment: str, source: Path, *, static: bool = False) -> list[str]:
    """The command of a program of one file, built with the modules of `go.sum`; `static` needs no libc."""
    settings = ["GOFLAGS=-mod=readonly -trimpath", *(["CGO_ENABLED=0"] if static else [])]
    build = ["env", *settings, _needed("go", "golang")]
    place = _place(HERE / environment, source, [[*build, "build", "-o", "agent", source.name]])
    return [str(place / "agent")]


def rust(environment: str | Path, source: Path, binary: str = "agent") -> list[str]:
    """The command of a program of one file, built with the crates of `Cargo.lock`.

    The environment is a folder beside this file, or a path."""
    cargo = str(CARGO) if CARGO.exists() else _needed("cargo", "rustup")
    build = [cargo, "build", "--locked", "--quiet", "--target-dir", "built"]
    move = ["mv", f"built/debug/{binary}", binary]
    place = _place(HERE / environment, source, [build, move, ["rm", "-r", "built"]])
    return [str(place / binary)]


def java(environment: str, source: Path) -> list[str]:
    """The command of a program of one class, compiled with the jars of `jars.sha256`."""
    jars = "jars" + os.sep + "*"
    build = [
        [_needed("mvn", "maven"), "-q", "-B", "dependency:copy-dependencies", "-DoutputDirectory=jars"],
        ["sha256sum", "--check", "--strict", "--quiet", "jars.sha256"],
        [_needed("javac", "default-jdk"), "-cp", jars, "-d", "classes", source.name],
    ]
    place = _place(HERE / environment, source, build)
    return [_needed("java", "default-jre"), "-cp", f"{place / 'classes'}:{place / jars}", source.stem]
