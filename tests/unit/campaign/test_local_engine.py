"""Processes that take batch after batch are kept, and what is no whole answer is never taken for one."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import psutil
import pytest

from faultwire.campaign.engine import Command, Ended
from faultwire.campaign.local_engine import LocalEngine

TAKES = """
import os, sys
for line in sys.stdin.buffer:
    print("about", line.decode().strip(), file=sys.stderr, flush=True)
    if line == b"end\\n":
        sys.exit(3)
    if line == b"babble\\n":
        print("hello", flush=True)
        continue
    if line == b"half\\n":
        sys.stdout.write("99\\nhalf")
        sys.exit(0)
    if line == b"wait\\n":
        os.kill(os.getpid(), 9)
    answer = b"%d %s" % (os.getpid(), line)
    sys.stdout.buffer.write(b"%d\\n" % len(answer) + answer)
    sys.stdout.buffer.flush()
"""


@pytest.fixture
def engine() -> Iterator[LocalEngine]:
    with closing(LocalEngine(2)) as made:
        yield made


def command(tmp_path: Path) -> Command:
    return Command((sys.executable, "-S"), str(tmp_path), ("-c", TAKES))


def played(engine: LocalEngine, where: Command, *texts: str) -> list[Ended]:
    """Batches one after the other."""
    found = []
    for number, text in enumerate(texts):
        engine.submit(f"b{number}", where, text)
        (ended,) = engine.wait(60)
        assert ended.batch == f"b{number}"
        found.append(ended)
    return found


def pid(ended: Ended) -> int:
    return int(ended.output.split()[0])


def test_one_process_takes_batch_after_batch(engine: LocalEngine, tmp_path: Path) -> None:
    first, second = played(engine, command(tmp_path), "one", "two")
    assert pid(first) == pid(second)
    assert (first.output.split()[1:], second.output.split()[1:]) == ([b"one"], [b"two"])
    ((_, asked),) = engine.ask(command(tmp_path), "three")
    assert pid(asked) == pid(first)
    assert asked.errors == "about one\nabout two\nabout three\n"


def test_without_a_series_each_batch_has_a_process(engine: LocalEngine, tmp_path: Path) -> None:
    once = Command((sys.executable, "-S", "-c", "import os; print(os.getpid())"), str(tmp_path))
    first, second = played(engine, once, "", "")
    assert pid(first) != pid(second)


def test_batches_beside_each_other_have_processes_of_their_own(engine: LocalEngine, tmp_path: Path) -> None:
    engine.submit("a", command(tmp_path), "one")
    engine.submit("b", command(tmp_path), "two")
    ended = list(engine.wait(60))
    while len(ended) < 2:
        ended += engine.wait(60)
    assert len({pid(one) for one in ended}) == 2


def test_one_that_ended_while_it_waited_is_replaced(engine: LocalEngine, tmp_path: Path) -> None:
    (first,) = played(engine, command(tmp_path), "one")
    os.kill(pid(first), signal.SIGKILL)
    psutil.wait_procs([one for one in psutil.Process().children() if one.pid == pid(first)], timeout=60)
    (second,) = played(engine, command(tmp_path), "two")
    assert second.lost == ""
    assert pid(second) != pid(first)


def test_another_command_has_another_process(engine: LocalEngine, tmp_path: Path) -> None:
    (first,) = played(engine, command(tmp_path), "one")
    (tmp_path / "sub").mkdir()
    (second,) = played(engine, command(tmp_path / "sub"), "two")
    assert pid(first) != pid(second)
    assert not psutil.pid_exists(pid(first))


@pytest.mark.parametrize(
    ("text", "code", "lost"),
    [("wait", -9, "its worker was ended by signal 9"), ("end", 3, ""), ("half", 0, ""), ("babble", 0, "")],
)
def test_what_is_no_whole_answer_is_none(
    engine: LocalEngine, tmp_path: Path, text: str, code: int, lost: str
) -> None:
    first, bad, after = played(engine, command(tmp_path), "one", text, "two")
    assert (bad.code, bad.lost, bad.output) == (code, lost, b"")
    assert bad.errors == f"about one\nabout {text}\n"
    assert pid(after) != pid(first)


def test_one_that_is_dropped_is_killed_and_not_used_again(engine: LocalEngine, tmp_path: Path) -> None:
    still = Command((sys.executable, "-S", "-c", "import signal; signal.pause()"), str(tmp_path), ("x",))
    engine.submit("a", still, "one")
    process = engine._running["a"].process
    engine.drop("a")
    (ended,) = engine.wait(60)
    assert ended.lost == "its worker was ended by signal 9"
    assert process.returncode == -signal.SIGKILL
    assert engine._idle == []


def test_at_the_end_those_that_wait_end_by_themselves(tmp_path: Path) -> None:
    with closing(LocalEngine(1)) as engine:
        played(engine, command(tmp_path), "one")
        process = engine._idle[0].process
    assert process.returncode == 0
