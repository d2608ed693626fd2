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


def _place(name: str, lock: Path, version: str = f"{sys.version_info.major}{sys.version_info.minor}") -> Path:
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


def _installs(python: str) -> bool:
    """Does it start, with pip? A shim of pyenv may do neither."""
    return not subprocess.run([python, "-c", "import pip"], check=False, capture_output=True).returncode


def at_least(minor: int) -> str | None:
    """An interpreter of Python 3.`minor` or newer: this one, or one on the path or of pyenv."""
    if sys.version_info >= (3, minor):
        return sys.executable
    pyenv = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv")) / "versions"
    for newer in range(minor, minor + 4):
        for found in (shutil.which(f"python3.{newer}"), *sorted(pyenv.glob(f"3.{newer}.*/bin/python3"))):
            if found is not None and _installs(str(found)):
                return str(found)
    return None


def python(name: str, base: str | None = None) -> Path:
    """The interpreter of a locked Python environment (`openai-3`, `anthropic-0`, …), made with `base` where
    it is not for the version that runs the tests."""
    lock = HERE / "locks" / f"{name}.txt"
    prefix, place = sys.base_prefix, _place(name, lock)
    if base not in (None, sys.executable):
        about = [base, "-c", "import sys; print(*sys.version_info[:2], sep=''); print(sys.base_prefix)"]
        version, prefix = subprocess.run(about, check=True, capture_output=True, text=True).stdout.split()
        place = _place(name, lock, version)
    if not place.exists():
        site = ["--target", "site", "--no-deps", "-r", str(lock)]
        _built(place, [[base or sys.executable, "-m", "pip", "install", "--quiet", *site]])
    launcher = place / "python"
    if not launcher.exists():
        # `-I` keeps the user's site and PYTHONPATH out; the folder can be moved, unlike a venv.
        bootstrap = (
            "import sys,runpy;"
            f"sys.path.insert(0,{str(place / 'site')!r});"
            "sys.argv=sys.argv[1:];runpy.run_path(sys.argv[0],run_name='__main__')"
        )
        quoted = bootstrap.replace("'", "'\\''")
        launcher.write_text(f"#!/bin/sh\nexec '{prefix}/bin/python3' -I -S -c '{quoted}' \"$@\"\n")
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
