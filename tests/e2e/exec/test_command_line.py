"""What a command is started with may be secret: of its words only the program's name is kept."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

WORD = "pass-8c1f0e2d47"


def test_no_argument_of_a_command_is_written_anywhere(tmp_path: Path) -> None:
    agent = [sys.executable, "-c", "pass", WORD, f"--token={WORD}"]
    command = [sys.executable, "-m", "faultwire", "exec", "--mock", "--allow-no-traffic", "--"]
    done = subprocess.run([*command, *agent], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    kept = {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}
    assert not [path for path, data in kept.items() if WORD.encode() in data]
    assert WORD not in done.stdout + done.stderr
    (record,) = (tmp_path / ".faultwire" / "runs").glob("*/run.json")
    assert Path(sys.executable).name.encode() in kept[record], "the control: the program's name is"
