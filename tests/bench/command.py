"""What it costs to start the command line."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path

from tests.bench.children import ROOT
from tests.bench.rounds import Row

TARGET_MS = 150.0
IMPORT_TARGET_MS = 60.0
START_TARGET_MS = 400.0
TIMES = 10
EXEC = ("exec", "--mock", "--allow-no-traffic", "--quiet", "--", "true")
"""All processes of it count: the command, the engine, the mock and what runs behind them."""


def run() -> list[Row]:
    """CPU (user and system) of `faultwire --help`, of `import faultwire` and of a whole `exec --mock` of a
    command that does nothing, the first two beside an interpreter that does nothing."""
    script = Path(sys.executable).with_name("faultwire")
    ours = [str(script)] if script.exists() else [sys.executable, "-m", "faultwire"]
    rows = [
        Row("help", "faultwire --help", "faultwire", "ms CPU", target=TARGET_MS, more_is_better=False),
        Row("help", "faultwire --help", "python -c pass", "ms CPU", more_is_better=False),
        Row(
            "import", "import faultwire", "faultwire", "ms CPU", target=IMPORT_TARGET_MS, more_is_better=False
        ),
        Row("import", "import faultwire", "python -c pass", "ms CPU", more_is_better=False),
        Row(
            "start",
            "faultwire exec --mock -- true",
            "faultwire",
            "ms CPU",
            target=START_TARGET_MS,
            more_is_better=False,
        ),
    ]
    for _ in range(TIMES):
        with tempfile.TemporaryDirectory(prefix="faultwire-bench-") as folder:
            rows[4].rounds.append(_cpu_ms([*ours, *EXEC], Path(folder)))
        rows[0].rounds.append(_cpu_ms([*ours, "--help"]))
        rows[1].rounds.append(_cpu_ms([sys.executable, "-c", "pass"]))
        rows[2].rounds.append(_cpu_ms([sys.executable, "-c", "import faultwire"]))
        rows[3].rounds.append(_cpu_ms([sys.executable, "-c", "pass"]))
    return rows


def _cpu_ms(command: list[str], folder: Path = ROOT) -> float:
    env = {**os.environ, "PYTHONPATH": os.pathsep.join(path for path in sys.path if path)}
    with subprocess.Popen(command, cwd=folder, env=env, stdout=subprocess.DEVNULL) as process:
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise RuntimeError(f"`{' '.join(command)}` ended with {process.returncode}")
    return (usage.ru_utime + usage.ru_stime) * 1000
