"""A tape that was tampered with, or cut: no command that runs an agent again and again starts from it."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from tests.e2e.agents.harness import base_environment, faultwire
from tests.e2e.trials.test_offline import AGENT, COMMAND, FAULT

LIMIT_S = 300


def run(work: Path, *words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [*faultwire(), *words], cwd=work, env=base_environment(), capture_output=True, text=True, check=False,
        timeout=LIMIT_S,
    )  # fmt: skip


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """The tape of a run that failed."""
    work = tmp_path_factory.mktemp("recorded")
    (work / "agent.py").write_text(AGENT)
    done = run(work, "exec", "-q", "--mock", *FAULT, "--record", "failed.tape", *COMMAND)
    assert done.returncode == 1, done.stderr
    return (work / "failed.tape").read_bytes()


def tampered(tape: bytes) -> bytes:
    """Another question than was asked, of the same length."""
    assert tape.count(b"Step 2?") >= 1
    return tape.replace(b"Step 2?", b"Step 9?")


def cut(tape: bytes) -> bytes:
    return tape[: len(tape) // 2]


WAYS = {
    "shrink": ("shrink", "failed.tape", *FAULT),
    "shrink with the mock": ("shrink", "failed.tape", "--mock", *FAULT),
    "blame": ("blame", "failed.tape", "--mock", *FAULT),
    "blame with a calm run": ("blame", "good.tape", "--calm", "failed.tape"),
    "explore": ("explore", "--replay", "failed.tape", *FAULT),
    "audit": ("audit", "--mock", "--against", "failed.tape"),
}


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("damage", [tampered, cut])
def test_nothing_is_run_and_nothing_is_written(
    damage: object, way: str, recorded: bytes, tmp_path: Path
) -> None:
    assert callable(damage)
    (tmp_path / "agent.py").write_text("open('was run', 'w')\n" + AGENT)
    (tmp_path / "failed.tape").write_bytes(damage(recorded))
    (tmp_path / "good.tape").write_bytes(recorded)
    done = run(tmp_path, *WAYS[way], *COMMAND)
    assert done.returncode in (2, 3), (done.stdout, done.stderr)
    assert "failed.tape" in done.stderr
    assert "internal" not in done.stderr
    assert not (tmp_path / "was run").exists()
    left = [
        path for path in (tmp_path / ".faultwire").rglob("*") if path.suffix in (".json", ".jsonl", ".html")
    ]
    assert left == []


def test_the_tape_as_it_was_is_taken(recorded: bytes, tmp_path: Path) -> None:
    (tmp_path / "agent.py").write_text(AGENT)
    (tmp_path / "failed.tape").write_bytes(recorded)
    done = run(tmp_path, "shrink", "failed.tape", "--mock", *FAULT, *COMMAND)
    assert done.returncode == 0, done.stderr
    assert "1 of 2 decisions is needed" in done.stdout
