from __future__ import annotations

from pathlib import Path

import pytest

from faultwire.capture.runtime import NEEDS, needs, recognise


@pytest.mark.parametrize(
    ("command", "runtime"),
    [
        (["python", "agent.py"], "python"),
        (["/usr/bin/python3.12", "-m", "agent"], "python"),
        (["uv", "run", "agent.py"], "python"),
        (["node", "agent.mjs"], "node"),
        (["npx", "tsx", "agent.ts"], "node"),
        (["java", "-jar", "agent.jar"], "java"),
        (["./gradlew", "run"], "java"),
        (["go", "run", "."], "go"),
        (["curl", "https://x"], "curl"),
        (["deno", "run", "x.ts"], "deno"),
        (["bun", "x.ts"], "bun"),
        (["bash", "-c", "x"], "shell"),
        (["env", "A=1", "B=2", "python3", "x.py"], "python"),
        (["timeout", "-k", "5", "30s", "node", "x.js"], "node"),
        (["no-such-program"], "unknown"),
        ([], "unknown"),
        (["env"], "unknown"),
    ],
)
def test_by_name(command: list[str], runtime: str) -> None:
    assert recognise(command, {"PATH": "/nowhere"}) == runtime


@pytest.mark.parametrize(
    ("contents", "runtime"),
    [
        (b"#!/usr/bin/env -S node --no-warnings\n", "node"),
        (b"#!/opt/venv/bin/python3\nimport x", "python"),
        (b"#!/opt/strange\n", "unknown"),
        (b"#!\n", "unknown"),
        (b"\x7fELF" + b"\0" * 3_000_000 + b"\xff Go buildinf:\x08\x02", "go"),
        (b"\x7fELF" + b"\0" * ((1 << 20) - 10) + b"\xff Go buildinf:\x08\x02", "go"),
        (b"\x7fELF" + b"\0" * 100, "unknown"),
        (b"", "unknown"),
    ],
    ids=["env", "path", "strange", "bare", "go", "go-across-blocks", "elf", "empty"],
)
def test_by_contents(tmp_path: Path, contents: bytes, runtime: str) -> None:
    program = tmp_path / "agent"
    program.write_bytes(contents)
    program.chmod(0o755)
    assert recognise(["agent"], {"PATH": str(tmp_path)}) == runtime


def test_every_runtime_has_a_sentence_of_one_line() -> None:
    for runtime, text in NEEDS.items():
        assert needs(runtime) == text
        assert "\n" not in text
        assert not text.endswith(".")
