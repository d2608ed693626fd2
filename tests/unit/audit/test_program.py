from __future__ import annotations

from pathlib import Path

from faultwire.audit.program import LARGEST, program_hash


def test_the_files_that_a_command_names(tmp_path: Path) -> None:
    script, large = tmp_path / "agent.py", tmp_path / "large"
    script.write_text("1")
    first = program_hash(["python", str(script), "--flag"])
    assert first is not None
    assert program_hash(["python3", str(script)]) == first
    script.write_text("2")
    assert program_hash(["python", str(script)]) != first
    large.write_bytes(b"x" * (LARGEST + 1))
    assert program_hash(["python", "-m", "agent", str(large), "no\0name"]) is None
