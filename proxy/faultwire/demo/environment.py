"""The demo agent's own Python environment: the official SDK, and nothing of ours."""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from faultwire._core import sha256_hex
from faultwire.demo.plan import REQUIREMENTS
from faultwire.errors import FaultwireError, UsageError
from faultwire.runner.folder import STATE, private_dir

if TYPE_CHECKING:
    from collections.abc import Callable


PROBE = "import openai; print(openai.__version__)"
_PIP = ("--disable-pip-version-check", "--no-input", "--quiet", "--retries", "2", "--timeout", "20")


def interpreter(given: Path | None, say: Callable[[str], None], base: Path = STATE) -> tuple[Path, str]:
    """A Python that has the SDK, and the SDK's version.

    The one that was named, else that of an environment below `.faultwire/demo`, made once. Raises
    UsageError where the named one lacks the SDK, FaultwireError where the environment cannot be made.
    """
    if given is not None:
        version = _sdk(given)
        if version is None:
            raise UsageError(
                f"found no package `openai` in `{given}`, expected the interpreter of an environment with it",
                code="demo.no_sdk",
                hint=f"{given} -m pip install openai, or leave out --agent-python",
            )
        return given, version
    home = private_dir(base / "demo") / f"venv-{sha256_hex(REQUIREMENTS.read_bytes())[:12]}"
    python = home / "bin" / "python"
    if (version := _sdk(python)) is None:
        say(f"making the agent's environment in {home} (once)")
        _make(home)
        version = _sdk(python)
    if version is None:
        raise _unavailable("the environment was made, but `import openai` fails in it")
    return python.absolute(), version


def _sdk(python: Path) -> str | None:
    """The SDK's version as this interpreter sees it, or None."""
    try:
        done = subprocess.run(
            [python, "-I", "-c", PROBE], capture_output=True, text=True, check=False, timeout=60
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    return done.stdout.strip() if done.returncode == 0 else None


def _make(home: Path) -> None:
    """Build beside, then move into place: an interrupted build is never taken for a whole one."""
    draft = Path(tempfile.mkdtemp(prefix=f"{home.name}.", dir=home.parent))
    try:
        _step([sys.executable, "-I", "-m", "venv", str(draft)])
        _step([str(draft / "bin" / "python"), "-I", "-m", "pip", "install", *_PIP, "-r", str(REQUIREMENTS)])
        shutil.rmtree(home, ignore_errors=True)
        draft.rename(home)
    finally:
        shutil.rmtree(draft, ignore_errors=True)


def _step(command: list[str]) -> None:
    done = subprocess.run(
        command,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    if done.returncode:
        lines = [line.strip() for line in done.stdout.splitlines() if line.strip()]
        errors = [line for line in lines if line.lower().startswith("error")]
        raise _unavailable((errors or lines or [f"it exited with {done.returncode}"])[-1][:300])


def _unavailable(why: str) -> FaultwireError:
    return FaultwireError(
        f"the package `openai`, which the demo's agent is written with, could not be installed: {why}",
        code="demo.no_sdk",
        hint="the package index must answer once; or name an interpreter that has it: --agent-python PYTHON",
    )
