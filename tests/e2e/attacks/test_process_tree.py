"""Processes found by a mark, and ended: real ones, since what is tested is what the kernel says of them."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator

import pytest

from faultwire import dice, process_tree

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="only Linux says whose a process is")
IGNORES = "trap '' TERM; echo ready; while :; do sleep 1; done"


@pytest.fixture
def mark() -> Iterator[str]:
    name = dice.token()
    yield name
    process_tree.end(name)


def start(script: str, mark: str) -> subprocess.Popen[bytes]:
    """A shell that has printed a line."""
    process = subprocess.Popen(
        ["sh", "-c", script], env=process_tree.marked(os.environ, mark), stdout=subprocess.PIPE
    )
    assert process.stdout is not None
    process.stdout.readline()
    process.stdout.close()
    return process


def test_children_are_found_however_deep_and_others_are_not(mark: str) -> None:
    other = start("echo; exec sleep 100", dice.token())
    one = start("sleep 100 & setsid sleep 100 & env -i sleep 100 & echo; exec sleep 100", mark)
    assert len(process_tree.members(mark)) == 4
    assert one.pid in process_tree.members(mark)
    assert process_tree.end(mark) == 4
    assert one.wait() == -signal.SIGKILL
    assert other.poll() is None
    other.kill()
    other.wait()


def test_without_a_mark_nothing_is_found(mark: str) -> None:
    process = subprocess.Popen(["sleep", "100"], env={**os.environ, process_tree.MARK: ""})
    assert process_tree.members("") == set()
    assert process_tree.end("") == 0
    assert process.poll() is None
    process.kill()
    process.wait()


def test_a_part_of_a_mark_is_another_mark(mark: str) -> None:
    process = start("echo; exec sleep 100", mark)
    assert process_tree.members(mark[:-1]) == process_tree.members(mark + "0") == set()
    assert process_tree.members(mark) == {process.pid}
    process_tree.end(mark)
    process.wait()


def test_what_does_as_it_is_asked_is_not_killed(mark: str) -> None:
    polite = start("trap 'exit 7' TERM; echo; while :; do sleep 0.01; done", mark)
    assert process_tree.end(mark, grace_s=20.0) >= 1
    assert polite.wait() == 7


def test_what_does_not_is(mark: str) -> None:
    process = start(IGNORES, mark)
    assert process_tree.end(mark, grace_s=0.05) >= 1
    assert process.wait() == -signal.SIGKILL
