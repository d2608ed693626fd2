"""However it ends, the command meets refused connections and never the network; nothing is left behind."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.e2e.netns.conftest import Outside, command
from tests.e2e.netns.outside import FAR

AGENT = str(Path(__file__).parent / "agents" / "refused.py")
UNTIL_S = 60.0
only_nobody = pytest.mark.parametrize("outside", ["nobody"], indirect=True)


def until(there: Callable[[], bool]) -> None:
    """Wait for something that another process does."""
    event = threading.Event()
    for _ in range(int(UNTIL_S / 0.02)):
        if there():
            return
        event.wait(0.02)
    raise AssertionError("it did not happen in time")


def started(outside: Outside, *words: str) -> tuple[subprocess.Popen[str], Path, dict[str, object]]:
    """An agent that has connected once, its log, and what its run is."""
    log = outside.work / "log"
    run = outside.start(
        *command(), "exec", "--capture", "netns", "--mock", "-q", "--allow-no-traffic", "--",
        sys.executable, AGENT, str(log), FAR, *words,
    )  # fmt: skip
    until(lambda: log.exists() and "connected\n" in log.read_text())
    (record,) = (outside.work / ".faultwire" / "runs").glob("*/run.json")
    return run, log, json.loads(record.read_text())


def in_network(inode: str) -> list[int]:
    """The processes in a network namespace, and those that hold it."""
    found = []
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            fds = os.listdir(f"/proc/{pid}/fd")
        except OSError:
            continue
        if inode in [link(f"/proc/{pid}/{one}") for one in ("ns/net", *(f"fd/{fd}" for fd in fds))]:
            found.append(int(pid))
    return found


def link(path: str) -> str:
    """Where it leads; nowhere, where it is gone."""
    try:
        return os.readlink(path)
    except OSError:
        return ""


def network_of(outside: Outside) -> str:
    """The namespace of the agent that runs there."""
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            words = Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")
            if (
                AGENT.encode() in words
                and b"exec" not in words
                and str(outside.work / "log").encode() in words
            ):
                return os.readlink(f"/proc/{pid}/ns/net")
        except OSError:
            continue
    raise AssertionError("no agent is there")


@pytest.mark.nightly
@only_nobody
def test_a_killed_engine_leaves_refused_connections(outside: Outside) -> None:
    run, log, about = started(outside)
    before, network = outside.seen(), network_of(outside)
    os.kill(int(str(about["engine_pid"])), signal.SIGKILL)
    _, stderr = run.communicate(timeout=UNTIL_S)
    assert run.returncode == 3, stderr
    assert "engine" in stderr
    found = log.read_text().split()
    assert found[-1] in ("ConnectionRefusedError", "ConnectionResetError")
    assert "ConnectionRefusedError" in found
    assert "connected" not in found[found.index("ConnectionRefusedError") :]
    assert outside.seen() == before == {"syns": 0, "names": {}}
    assert in_network(network) == []


@pytest.mark.nightly
@only_nobody
def test_a_killed_command_takes_all_with_it_what_left_its_family_too(outside: Outside) -> None:
    """It is known by its mark; in the moment before its end nobody listens to it any more."""
    run, log, about = started(outside, "leave")
    network = network_of(outside)
    assert in_network(network)
    os.kill(int(str(about["pid"])), signal.SIGKILL)
    run.wait(UNTIL_S)
    for pipe in (run.stdout, run.stderr):  # the process that left had them, too
        assert pipe is not None
        pipe.close()
    engine = Path(f"/proc/{about['engine_pid']}")
    until(lambda: not engine.exists())
    seen = len(log.read_text())
    until(lambda: in_network(network) == [])
    assert "connected" not in log.read_text()[seen:]
    assert outside.seen() == {"syns": 0, "names": {}}


def test_nothing_is_left_behind(outside: Outside) -> None:
    done = outside.run(
        *command(), "exec", "--capture", "netns", "--mock", "-q", "--allow-no-traffic", "--",
        "sh", "-c", "pwd; id -u; readlink /proc/self/ns/net; readlink /proc/$$/fd/* | grep -v pipe; exit 7",
    )  # fmt: skip
    assert done.returncode == 7, done.stderr
    folder, user, network, *held = done.stdout.split()
    # No descriptor leads out of the namespace, or to what it was made with.
    assert [one for one in held if one.startswith(("socket:", "net:", "user:", "mnt:"))] == []
    assert (folder, user) == (str(outside.work), str(outside.user))
    assert network != os.readlink("/proc/self/ns/net")
    assert in_network(network) == []


def test_control_a_namespace_that_is_held_is_found() -> None:
    """Negative control of the last assertion: our own is held by ourselves."""
    assert os.getpid() in in_network(os.readlink("/proc/self/ns/net"))
