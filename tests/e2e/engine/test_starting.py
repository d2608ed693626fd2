"""Starting a program of ours in a process of its own."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from faultwire import child_process
from faultwire.errors import FaultwireError


def started(code: str, log: Path | None = None) -> object:
    return child_process.spawn([sys.executable, "-c", code], log, os.environ)


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
def test_one_that_ends_before_it_listens_is_reported(code: str, tmp_path: Path) -> None:
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


SLOW = """if True:
    import sys, time
    from faultwire.child_process import report
    for step in ("reading", "opening", "listening"):
        time.sleep({seconds})  # stands for work on a busy machine
        {report}
    print('{{"port": 1}}', flush=True)
    sys.stdin.read()
"""
STEP_S, TIMEOUT_S = 3.0, 6.0


def test_a_start_that_reports_its_steps_keeps_its_time() -> None:
    process = started(SLOW.format(seconds=STEP_S, report="report(step)"))
    word = child_process.first_word(process, "helper", None, TIMEOUT_S)
    child_process.end(process, 20)
    assert word == {"port": 1}


def test_one_that_reports_nothing_is_given_up(tmp_path: Path) -> None:
    """Negative control: the same start in silence. The message says how far it came and what to do."""
    process = started(SLOW.format(seconds=STEP_S, report="pass"))
    with pytest.raises(FaultwireError) as told:
        child_process.first_word(process, "helper", tmp_path / "its.log", TIMEOUT_S)
    child_process.end(process, 0.01)
    assert told.value.code == "helper.start"
    assert (
        "was not ready after `6` seconds: it did not get beyond `the start of Python`" in told.value.message
    )
    assert re.search(r"with a load average of `[0-9]+\.[0-9]` on", told.value.message)
    assert f"on `{os.cpu_count()}` processor" in told.value.message
    assert "its.log" in (told.value.hint or "")


def test_the_last_step_is_named_and_its_time_is_its_own() -> None:
    code = """if True:
        import signal
        from faultwire.child_process import report
        report("reading")
        report("opening the port")
        signal.pause()
    """
    process = started(code)
    with pytest.raises(FaultwireError, match="it did not get beyond `opening the port`"):
        child_process.first_word(process, "helper", None, TIMEOUT_S)
    child_process.end(process, 0.01)


def test_an_engine_and_a_mock_report_their_steps(tmp_path: Path) -> None:
    for module, last in (
        ("faultwire.mitm", "importing the engine"),
        ("faultwire.mock", "reading the script"),
    ):
        process = child_process.start(module, (), None, os.environ)
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(b"{}\n")  # no settings for an engine: it refuses them
        process.stdin.close()
        lines = [json.loads(line) for line in process.stdout]
        child_process.end(process, 20)
        stages = [line[child_process.STAGE] for line in lines if child_process.STAGE in line]
        assert any(stage.startswith(last) for stage in stages), lines
        assert child_process.STAGE not in lines[-1]


def test_a_program_that_nobody_listens_to_reports_nothing() -> None:
    code = "from faultwire.child_process import report; report('reading'); print('done')"
    environment = {name: value for name, value in os.environ.items() if name != child_process.REPORTING}
    done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, check=True)
    assert done.stdout == b"done\n"
