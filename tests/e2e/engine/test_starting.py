"""Starting a program of ours in a process of its own."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from faultwire import child_process
from faultwire.errors import FaultwireError


def started(code: str, log: Path | None = None) -> object:
    return child_process.start(["-c", code], log, os.environ)


def test_it_says_one_line_and_ends_with_its_standard_input(tmp_path: Path) -> None:
    log = tmp_path / "it.log"
    code = """if True:
        import sys
        print('{"port": 1}', flush=True)
        print('on stderr', file=sys.stderr)
        sys.stdin.read()
    """
    process = started(code, log)
    assert child_process.first_word(process, "helper", log) == {"port": 1}
    child_process.end(process, 20)
    assert process.returncode == 0
    assert log.read_text() == "on stderr\n"
    assert log.stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize("code", ["raise SystemExit(7)", "print('half', end='')\nraise SystemExit(7)"])
def test_one_that_ends_before_it_listens_is_told(code: str, tmp_path: Path) -> None:
    process = started(code)
    with pytest.raises(FaultwireError) as told:
        child_process.first_word(process, "helper", tmp_path / "its.log")
    child_process.end(process, 20)
    assert told.value.code == "helper.start"
    assert "ended with code `7` before it listened" in told.value.message
    assert "its.log" in (told.value.hint or "")


def test_a_log_is_not_written_through_a_link(tmp_path: Path) -> None:
    (tmp_path / "log").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(OSError, match="log"):
        started("pass", tmp_path / "log")
    assert not (tmp_path / "elsewhere").exists()


def test_one_that_does_not_end_is_ended() -> None:
    process = started("import signal; print('{}', flush=True); signal.pause()")
    child_process.first_word(process, "helper", None)
    child_process.end(process, 0.01)
    assert process.returncode == -9
