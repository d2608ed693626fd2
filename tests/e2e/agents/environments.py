"""Environments of the agents under test: one per SDK generation, built once, kept outside the repo.

mitmproxy pins its dependencies, so no agent shares faultwire's own environment. A lock file's hash is
part of the folder's name: a changed lock makes a new environment.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).parent
CACHE = Path(os.environ.get("FAULTWIRE_TEST_CACHE", Path.home() / ".cache" / "faultwire-tests"))


def _place(name: str, lock: Path) -> Path:
    version = f"{sys.version_info.major}{sys.version_info.minor}"
    digest = hashlib.sha256(lock.read_bytes()).hexdigest()[:12]
    return CACHE / f"{name}-{version}-{digest}"


def _built(place: Path, build: list[list[str]], limit_s: float = 600) -> None:
    """Run `build` in a folder that appears under its name only when it is whole."""
    part = place.with_name(f"{place.name}.part{os.getpid()}")
    part.mkdir(parents=True)
    for command in build:
        subprocess.run(command, cwd=part, check=True, capture_output=True, timeout=limit_s)
    try:
        part.rename(place)
    except OSError:  # another run was first: use its folder
        shutil.rmtree(part)


def python(name: str) -> Path:
    """The interpreter of a locked Python environment (`openai-3`, `anthropic-0`, …)."""
    lock = HERE / "locks" / f"{name}.txt"
    place = _place(name, lock)
    if not place.exists():
        site = ["--target", "site", "--no-deps", "-r", str(lock)]
        _built(place, [[sys.executable, "-m", "pip", "install", "--quiet", *site]])
    launcher = place / "python"
    if not launcher.exists():
        # `-I` keeps the user's site and PYTHONPATH out; the folder can be moved, unlike a venv.
        bootstrap = (
            "import sys,runpy;"
            f"sys.path.insert(0,{str(place / 'site')!r});"
            "sys.argv=sys.argv[1:];runpy.run_path(sys.argv[0],run_name='__main__')"
        )
        quoted = bootstrap.replace("'", "'\\''")
        launcher.write_text(f"#!/bin/sh\nexec '{sys.base_prefix}/bin/python3' -I -S -c '{quoted}' \"$@\"\n")
        launcher.chmod(0o755)
    return launcher


def node(name: str = "node") -> Path:
    """The folder with `agent.mjs` and the locked Node SDKs of the folder `name` beside this file."""
    source = HERE / name
    place = _place(name, source / "package-lock.json")
    if not place.exists():
        copy = [["cp", str(source / name), "."] for name in ("package.json", "package-lock.json")]
        _built(place, [*copy, ["npm", "ci", "--no-audit", "--no-fund", "--loglevel=error"]])
    shutil.copy(source / "agent.mjs", place / "agent.mjs")
    return place
