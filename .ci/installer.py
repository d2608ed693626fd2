"""Which program installs packages: uv where it is there, which takes a tenth of pip's time, else pip."""

from __future__ import annotations

import importlib.util
import sys


def installer() -> tuple[str, ...]:
    """The command that installs into the environment of this interpreter, to which requirements are added."""
    if importlib.util.find_spec("uv") is not None:
        return (sys.executable, "-m", "uv", "pip", "install", "--quiet", "--python", sys.executable)
    return (sys.executable, "-m", "pip", "install", "--quiet")
