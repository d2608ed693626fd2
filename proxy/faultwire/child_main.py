"""Runs one of our modules as a program: `python -I child_main.py MODULE [ARGUMENT]...`

With `-I` the interpreter reads neither the working directory, nor `PYTHONPATH`, nor the user's site, and a
`sitecustomize` there does not run: an `email.py` beside an agent must not run in the process that holds the
keys. What `-I` leaves out and we need is the folder that holds this package. It is searched last, so that it
replaces nothing; only the package itself certainly comes from there.
"""

import os
import sys
from importlib.machinery import PathFinder
from importlib.util import module_from_spec
from typing import NoReturn

PACKAGE = "faultwire"


def folder() -> str:
    """The folder that holds the package."""
    here: str = __file__
    for _ in range(2):
        here = here.rpartition("/")[0] if "/" in here else here.rpartition("\\")[0]
    return here


def run(module: str, arguments: list[str]) -> None:
    """Run a module of the package as `python -m` does."""
    place = folder()
    spec = PathFinder.find_spec(PACKAGE, [place])
    if spec is None or spec.loader is None:
        sys.exit(f"found no package `{PACKAGE}` in `{place}`")
    if place not in sys.path:
        sys.path.append(place)
    package = module_from_spec(spec)
    sys.modules[PACKAGE] = package
    spec.loader.exec_module(package)
    from runpy import run_module

    sys.argv[1:] = arguments
    run_module(module, run_name="__main__", alter_sys=True)


def leave(code: int) -> NoReturn:
    """End this process now: everything is written, and nothing is left to do. To take an interpreter apart
    that has imported mitmproxy takes 0.16 s of CPU, nine tenths of what an engine's end takes."""
    for stream in (sys.stdout, sys.stderr):
        if stream is not None:  # closed before we began
            stream.flush()
    os._exit(code)


if __name__ == "__main__":
    run(sys.argv[1], sys.argv[2:])
