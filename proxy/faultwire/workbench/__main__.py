"""`python -m faultwire.workbench`: the workbench as a child process of `exec` and `proxy`.

Settings come as one JSON argument. One JSON line on stdout says where it listens, or what went wrong; it ends
when its standard input does.
"""

from __future__ import annotations

import json
import sys
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

from faultwire.child_process import leave, report
from faultwire.errors import FaultwireError

if TYPE_CHECKING:
    from faultwire.workbench.serve import Served


def main() -> int:
    """Serve; returns the exit code."""
    report("importing the workbench")
    from faultwire.workbench.controls import Controls
    from faultwire.workbench.serve import Listen, serve
    from faultwire.workbench.subject import Subject
    from faultwire.workbench.writer import urging

    given = json.loads(sys.argv[1])
    files = {name: None if given[name] is None else Path(given[name]) for name in ("certificate", "key")}
    listen = Listen(given["host"], given["port"], **files)
    try:
        control = Path(given["control"])
        subject = Subject(Path(given["tape"]), urging(control), Controls(control, given["on_gone"]))
        more = {"programs": given["program"] or False, "otel": given["otel"]}
        serve(subject, listen, _ready, base=Path(given["base"]), watch=sys.stdin.fileno(), **more)
    except FaultwireError as error:
        found = {"code": error.code, "message": error.message, "hint": error.hint}
        _emit({"error": {**found, "exit_code": error.exit_code}})
        return error.exit_code
    return 0


def _ready(served: Served) -> None:
    _emit(asdict(served))


def _emit(line: dict[str, object]) -> None:
    sys.stdout.write(json.dumps(line) + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    leave(main())
