"""`python -m faultwire.mock`: the mock as a child process of `faultwire`.

Settings come as one JSON argument. One JSON line on stdout says where it listens, or what went
wrong; it ends when its standard input does, or on SIGTERM.
"""

from __future__ import annotations

import gc
import json
import sys
from dataclasses import asdict
from typing import TYPE_CHECKING

from faultwire.child_process import leave, report
from faultwire.errors import FaultwireError

if TYPE_CHECKING:
    from faultwire.mock.serving import Listening


def main() -> int:
    """Serve; returns the exit code."""
    report("importing the mock's protocols")
    # What is imported stays: collections would find nothing, and are a tenth of the start.
    gc.disable()
    from faultwire.mock.serving import MockSettings, serve

    gc.freeze()
    gc.enable()
    settings = MockSettings(**json.loads(sys.argv[1])) if len(sys.argv) > 1 else MockSettings()
    report("reading the script and opening the port")
    try:
        serve(settings, _ready, watch=sys.stdin.fileno())
    except FaultwireError as error:
        _emit({"error": {**_as_document(error), "exit_code": error.exit_code}})
        return error.exit_code
    return 0


def _as_document(error: FaultwireError) -> dict[str, object]:
    where = asdict(error.where) if error.where else None
    also = [_as_document(other) for other in error.also]
    return {"code": error.code, "message": error.message, "hint": error.hint, "where": where, "also": also}


def _ready(listening: Listening) -> None:
    _emit(asdict(listening))


def _emit(line: dict[str, object]) -> None:
    sys.stdout.write(json.dumps(line) + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    leave(main())
