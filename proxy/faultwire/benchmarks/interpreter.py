"""The Python that has a benchmark's package: mitmproxy pins what it needs, so it is seldom ours."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from faultwire.errors import UsageError
from faultwire.runner.folder import STATE

if TYPE_CHECKING:
    from collections.abc import Iterator

LIMIT_S = 60


def interpreter(given: Path | None, package: str, wanted: str, base: Path = STATE) -> tuple[Path, str]:
    """A Python that has the package, and its version.

    The one that was named, else that of an environment below `.faultwire/bench`, else our own, else the one
    on the path. Raises UsageError with the line that installs it.
    """
    if given is not None:
        version = version_in(given, package)
        if version is None:
            raise _absent(f"`{given}`", package, wanted, f"{given} -m pip install '{package}=={wanted}'")
        return given, version
    for python in _candidates(package, base):
        version = version_in(python, package)
        if version is not None:
            return python, version
    home = base / "bench" / package
    line = f"python3 -m venv {home} && {home}/bin/pip install '{package}=={wanted}'"
    raise _absent("any Python here", package, wanted, line)


def version_in(python: Path, package: str) -> str | None:
    """The package's version as this interpreter sees it, or None."""
    probe = f"from importlib.metadata import version; print(version({package!r}))"
    try:
        done = subprocess.run(
            [python, "-I", "-c", probe], capture_output=True, text=True, check=False, timeout=LIMIT_S
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    return done.stdout.strip() or None if done.returncode == 0 else None


def _candidates(package: str, base: Path) -> Iterator[Path]:
    own = base / "bench" / package / "bin" / "python"
    if own.exists():
        yield own.absolute()
    yield Path(sys.executable)
    if (found := shutil.which("python3")) is not None:
        yield Path(found)


def _absent(where: str, package: str, wanted: str, line: str) -> UsageError:
    return UsageError(
        f"found no package `{package}` in {where}, expected version {wanted} in an environment of its own",
        code="bench.not_installed",
        hint=f"{line}   (or name an interpreter that has it: --python)",
    )
