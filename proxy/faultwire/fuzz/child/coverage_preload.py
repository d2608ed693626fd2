"""Tells which lines of a Python program ran: what `faultwire fuzz --coverage python` puts before it.

Copied as `sitecustomize.py` into a folder of `PYTHONPATH`, where the interpreter runs it before the program;
it needs nothing but the standard library of Python 3.9 or newer. What another `sitecustomize` does, it still
does.

Each line that ran sets one byte of a shared file, which holds even where the program is killed. Lines of the
standard library and of installed packages do not count. With Python 3.12 and newer it is `sys.monitoring`,
which costs each line once, else `sys.settrace`: a debugger that the program starts takes that away.
"""

from __future__ import annotations

import mmap
import os
import sys
import zlib
from typing import Any

MAP = "FAULTWIRE_FUZZ_MAP"
SIZE = 1 << 16
_FOREIGN = (os.sep + "site-packages" + os.sep, os.sep + "dist-packages" + os.sep, "<frozen")


def index(file: str, line: int) -> int:
    """Which byte stands for a line; two lines may share one."""
    return zlib.crc32(f"{file}:{line}".encode("utf-8", "replace")) % SIZE


def is_own(file: str, library: str) -> bool:
    """Is a file the program's own?"""
    return not (file.startswith((library, "<frozen")) or any(part in file for part in _FOREIGN))


def monitor(table: Any, library: str) -> None:
    """Set the bytes of lines as they run for the first time (Python 3.12 and newer)."""
    monitoring: Any = vars(sys)["monitoring"]
    tool = monitoring.COVERAGE_ID
    monitoring.use_tool_id(tool, "faultwire")

    def line(code: Any, number: int) -> Any:
        if is_own(code.co_filename, library):
            table[index(code.co_filename, number)] = 1
        return monitoring.DISABLE

    monitoring.register_callback(tool, monitoring.events.LINE, line)
    monitoring.set_events(tool, monitoring.events.LINE)


def trace(table: Any, library: str) -> None:
    """Set the bytes of lines as they run (older Pythons)."""
    import threading

    own: dict[str, bool] = {}

    def line(frame: Any, event: str, _value: Any) -> Any:
        if event == "line":
            table[index(frame.f_code.co_filename, frame.f_lineno)] = 1
        return line

    def call(frame: Any, _event: str, _value: Any) -> Any:
        file = frame.f_code.co_filename
        if file not in own:
            own[file] = is_own(file, library)
        return line if own[file] else None

    sys.settrace(call)
    threading.settrace(call)


def other_sitecustomize(folder: str) -> None:
    """Run the one that this one stands before."""
    from importlib.machinery import PathFinder
    from importlib.util import module_from_spec

    sys.path[:] = [place for place in sys.path if os.path.abspath(place) != folder]
    spec = PathFinder.find_spec("sitecustomize", sys.path)
    if spec is not None and spec.loader is not None:
        module = module_from_spec(spec)
        sys.modules["sitecustomize"] = module
        spec.loader.exec_module(module)


def main() -> None:
    """Called where the interpreter runs it as `sitecustomize`."""
    other_sitecustomize(os.path.dirname(os.path.abspath(__file__)))
    path = os.environ.get(MAP)
    if not path:
        return
    try:
        with open(path, "r+b") as file:
            table = mmap.mmap(file.fileno(), SIZE)
    except (OSError, ValueError):
        return
    library = os.path.dirname(os.path.abspath(os.__file__)) + os.sep
    if hasattr(sys, "monitoring"):
        monitor(table, library)
    else:
        trace(table, library)


if __name__ == "sitecustomize":
    main()
