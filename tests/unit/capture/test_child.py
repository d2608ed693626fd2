from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from faultwire.capture import child
from faultwire.errors import AgentError

ENVIRONMENT = {"PATH": os.environ["PATH"]}


def test_an_exit_code_is_passed_on() -> None:
    assert child.run(["sh", "-c", "exit 7"], ENVIRONMENT) == 7


def test_the_signal_that_ended_it_is_reported() -> None:
    code = child.run(["sh", "-c", "kill -TERM $$"], ENVIRONMENT)
    assert code == -signal.SIGTERM
    assert child.shell_code(code) == 143
    assert child.shell_code(7) == 7


def test_it_gets_the_environment_that_was_given_and_no_other() -> None:
    assert child.run(["sh", "-c", 'test "$A" = 1 -a -z "$HOME"'], {**ENVIRONMENT, "A": "1"}) == 0


def test_it_starts_with_our_signal_mask_and_default_handlers(tmp_path: Path) -> None:
    told = tmp_path / "status"
    assert child.run(["cp", "/proc/self/status", str(told)], ENVIRONMENT) == 0
    lines = dict(line.split(":\t", 1) for line in told.read_text().splitlines() if line.startswith("Sig"))
    assert int(lines["SigBlk"], 16) == 0
    # Bits 31 and 32 belong to glibc, which ignores its own two signals in whatever it spawns.
    assert int(lines["SigIgn"], 16) & 0x7FFFFFFF == 0


def test_our_own_mask_is_as_before() -> None:
    before = signal.pthread_sigmask(signal.SIG_BLOCK, set())
    child.run(["true"], ENVIRONMENT)
    assert signal.pthread_sigmask(signal.SIG_BLOCK, set()) == before


ALONE = "import sys; from faultwire.capture import child; sys.exit(child.run(sys.argv[1:], {}))"
"""A process with one thread, as the command is: threads of the test runner would take its signals."""


@pytest.mark.parametrize("sent", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGUSR1])
def test_a_signal_sent_to_us_alone_reaches_it(sent: signal.Signals) -> None:
    name = sent.name.removeprefix("SIG")
    script = f"trap 'exit 40' {name}; kill -{name} $PPID; while :; do /bin/sleep 0.01; done"
    command = [sys.executable, "-c", ALONE, "/bin/sh", "-c", script]
    assert subprocess.run(command, check=False).returncode == 40


def test_what_is_not_there_or_not_a_program_is_reported(tmp_path: Path) -> None:
    plain = tmp_path / "plain"
    plain.write_text("text")
    for name, code in (("no-such-program", "agent.not_found"), (str(plain), "agent.not_executable")):
        with pytest.raises(AgentError) as caught:
            child.run([name], ENVIRONMENT)
        assert caught.value.code == code
        assert caught.value.exit_code == 2


def test_a_script_without_an_interpreter_is_reported(tmp_path: Path) -> None:
    script = tmp_path / "script"
    script.write_text("echo hi\n")
    script.chmod(0o755)
    with pytest.raises(AgentError) as caught:
        child.run([str(script)], ENVIRONMENT)
    assert caught.value.code == "agent.not_started"
    assert "#!" in (caught.value.hint or "")


def test_the_end_is_seen_even_if_another_thread_swallows_the_signal() -> None:
    """A thread without our mask takes the process's SIGCHLD away; only looking helps."""
    stop = threading.Event()
    thief = threading.Thread(target=stop.wait)
    thief.start()
    try:
        assert all(child.run(["sh", "-c", "exit 7"], os.environ) == 7 for _ in range(5))
    finally:
        stop.set()
        thief.join()


def test_nobody_waits_for_a_signal_that_another_thread_took() -> None:
    """It was pending a moment ago; a plain `sigwait` would now wait for ever."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, child._WATCHED)
    try:
        assert not signal.sigpending() & child._WATCHED
        child._take_pending()
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def test_it_is_watched_while_it_runs() -> None:
    heard: list[tuple[str, int]] = []

    @contextmanager
    def watch(pid: int) -> Iterator[None]:
        os.kill(pid, 0)
        heard.append(("begin", pid))
        yield
        heard.append(("end", pid))

    assert child.run(["sh", "-c", "exit 7"], ENVIRONMENT, watch) == 7
    assert [word for word, _ in heard] == ["begin", "end"]


def test_the_signals_that_came_meanwhile_are_known() -> None:
    script = (
        "import sys; from faultwire.capture import child; received = set(); "
        "child.run(sys.argv[1:], {}, received=received); sys.exit(bool(received & child.STOPS) * 40)"
    )
    kill = "kill -TERM $PPID; while :; do /bin/sleep 0.01; done"
    for body, code in ((f"trap 'exit 0' TERM; {kill}", 40), ("kill -TERM $$", 0), ("exit 1", 0)):
        assert (
            subprocess.run([sys.executable, "-c", script, "/bin/sh", "-c", body], check=False).returncode
            == code
        )
