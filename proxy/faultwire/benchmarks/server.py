"""The process that serves a benchmark's tasks, in the benchmark's own interpreter."""

from __future__ import annotations

import json
import subprocess
import threading
from pathlib import Path
from typing import TYPE_CHECKING, Any

from faultwire.errors import FaultError

if TYPE_CHECKING:
    from types import TracebackType

SCRIPT = Path(__file__).parent / "child" / "serve.py"
AGENT = Path(__file__).parent / "child" / "agent.py"
KEPT = 300
"""Characters of an error of the package that are repeated."""


class TaskServer:
    """A context in which a benchmark's tasks are served. `ask` may be called from several threads."""

    def __init__(self, python: Path, module: str, *arguments: str) -> None:
        self._command = [str(python), "-I", str(SCRIPT), module, *arguments]
        self._lock = threading.Lock()
        self._process: subprocess.Popen[str] | None = None
        self.port = 0
        self.about: dict[str, Any] = {}

    def __enter__(self) -> TaskServer:
        self._process = subprocess.Popen(
            self._command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            encoding="utf-8",
        )
        self.about = self.ask("about")
        self.port = int(self.about["port"])
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        process, self._process = self._process, None
        if process is not None:
            assert process.stdin is not None
            process.stdin.close()  # it ends with that
            process.wait()
            if process.stdout is not None:
                process.stdout.close()

    def ask(self, what: str, **order: Any) -> Any:
        """What an order gives. Raises FaultError where the package fails, or the process has ended."""
        with self._lock:
            process = self._process
            if process is None or process.stdin is None or process.stdout is None:
                raise FaultError("the benchmark's process is not running", code="bench.ended")
            try:
                process.stdin.write(json.dumps({"do": what, **order}) + "\n")
                process.stdin.flush()
                line = process.stdout.readline()
            except OSError:
                line = ""
        if not line:
            raise FaultError(
                f"the benchmark's process ended while it was asked to {what}",
                code="bench.ended",
                hint=f"start it by hand to see why: {' '.join(self._command)}",
            )
        answer = json.loads(line)
        if "failed" in answer:
            raise FaultError(
                f"the benchmark's package failed to {what}: {str(answer['failed'])[:KEPT]}",
                code="bench.failed",
            )
        return answer["found"]
