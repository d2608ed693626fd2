"""Tests that are about processes start real interpreters, and warm starts are like them (`.ci/warm`)."""

from __future__ import annotations

import ast
import os
import re
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest
from tests import interpreter
from tests.conftest import COLD, E2E

ROOT = Path(__file__).parents[2]
ABOUT_PROCESSES = re.compile(r"\.send_signal\(|os\.kill(pg)?\(|pidfd_open\(|/proc/\{|memory_info")
ELSEWHERE = {
    "engine/test_addons.py": "it is bare mitmdump that is signalled",
    "truth/verdict_agent.py": "an agent that kills itself",
}
"""Files with such a call that no start of faultwire meets."""
AGENT = ("exec", "--mock", "--allow-no-traffic", "-q", "--", "sh", "-c", "echo up; exec sleep 60")


def unmarked(path: Path) -> Iterator[str]:
    """Its tests with such a call, without the marker."""
    text = path.read_text()
    for node in ast.parse(text).body:
        if isinstance(node, ast.FunctionDef) and node.name.startswith("test_"):
            marks = [ast.unparse(one) for one in node.decorator_list]
            if ABOUT_PROCESSES.search(ast.unparse(node)) and "pytest.mark.cold" not in marks:
                yield node.name


def test_what_is_named_exists() -> None:
    missing = [name for name in (*COLD, *ELSEWHERE) if not (E2E / name).exists()]
    assert missing == []


def test_tests_about_processes_are_cold() -> None:
    names = {path.relative_to(E2E).as_posix(): list(unmarked(path)) for path in E2E.rglob("test_*.py")}
    left = {
        name: tests
        for name, tests in names.items()
        if tests and not name.startswith(tuple(COLD)) and name not in ELSEWHERE
    }
    assert left == {}


def test_an_unmarked_one_is_noticed(tmp_path: Path) -> None:
    path = tmp_path / "test_it.py"
    body = "def test_it(process):\n    process.send_signal(2)\n"
    path.write_text(body)
    assert list(unmarked(path)) == ["test_it"]
    path.write_text(f"@pytest.mark.cold\n{body}")
    assert list(unmarked(path)) == []


@pytest.fixture
def warm(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """An interpreter whose starts of faultwire are warm."""
    if not sys.platform.startswith("linux") or shutil.which("cc") is None:
        pytest.skip("needs Linux and a C compiler")
    monkeypatch.syspath_prepend(str(ROOT / ".ci"))
    from warm import start

    python = interpreter.make(tmp_path / "made")
    with start.serving(python, tmp_path, os.environ, compared=False):
        yield python


def ended(python: Path, work: Path, how: signal.Signals, group: bool, more: Mapping[str, str]) -> tuple:
    """What its starter sees of a command that is ended from outside."""
    env = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    with subprocess.Popen(
        [python, "-m", "faultwire", *AGENT],
        cwd=work, env={**env, **more}, process_group=0, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    ) as process:  # fmt: skip
        assert process.stdout is not None
        first = process.stdout.readline()
        (os.killpg if group else os.kill)(process.pid, how)
        out, errors = process.communicate(timeout=60)
        return first, process.returncode, out, errors


@pytest.mark.nightly
def test_warm_starts_end_as_cold_ones_do(warm: Path, tmp_path: Path) -> None:
    for how, group in ((signal.SIGTERM, False), (signal.SIGINT, True), (signal.SIGKILL, False)):
        said = (tmp_path / "starts.log").read_text().count("command served")
        results = [ended(warm, tmp_path, how, group, more) for more in ({}, {"COLD_START": "1"})]
        assert (tmp_path / "starts.log").read_text().count("command served") == said + 1
        assert results[0] == results[1], how
        assert results[0][:2] == (b"up\n", {2: 130, 9: -9, 15: 143}[how])


@pytest.mark.nightly
def test_starts_are_cold_where_they_cannot_be_warm(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.syspath_prepend(str(ROOT / ".ci"))
    from warm import start

    python = interpreter.make(tmp_path / "made")
    kept = signal.signal(signal.SIGHUP, signal.SIG_IGN)  # as under `nohup`
    try:
        with start.serving(python, tmp_path, os.environ):
            assert "every start is cold: ignored signals" in capsys.readouterr().out
            subprocess.run([python, "-m", "faultwire", "--version"], check=True, cwd=tmp_path)
    finally:
        signal.signal(signal.SIGHUP, kept)
    assert (tmp_path / "starts.log").read_text() == "command cold: ignored signals\n"
