"""An engine that gets no more memory, by a cgroup or by its own limit, loses nothing that it acknowledged."""

from __future__ import annotations

import contextlib
import os
import resource
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from faultwire.dice import token
from faultwire.errors import FaultwireError
from faultwire.mitm.engine.client import Engine
from faultwire.tape.evidence.verify import verify
from faultwire.tape.read.reader import TapeReader

CGROUP = Path("/sys/fs/cgroup/memory")
FEW = 50
BIG = b'{"model": "m", "messages": ["' + b"x" * (30 << 20) + b'"]}'
UNFINISHED = {"session_open", "exchange_open", "seal_untrusted", "seal_missing"}
"""What the tape of an engine that was killed may state."""
ROOM = 8 << 20
"""Bytes that an engine may still take: less than it asks for at once for a long body."""


@pytest.fixture
def group() -> Iterator[Path]:
    """A cgroup, which is gone once it is empty."""
    made = CGROUP / f"faultwire-{token(6)}"
    try:
        made.mkdir()
    except OSError:
        pytest.skip("no cgroup of this machine can be written")
    yield made
    while (made / "cgroup.procs").read_text():
        pass
    made.rmdir()


@contextlib.contextmanager
def clients(tools: Any, engine: Engine, port: int, count: int) -> Iterator[list[Any]]:
    """Connections that are open before anything happens to the engine."""
    with contextlib.ExitStack() as stack:
        yield [stack.enter_context(tools.Client(engine, f"127.0.0.1:{port}")) for _ in range(count)]


def answered(opened: list[Any], body: bytes) -> list[int]:
    """The statuses of a call on each; 0 for none."""
    found = []
    for client in opened:
        status = 0
        with contextlib.suppress(OSError, EOFError):
            client.post("/", body)
            status = client.response()[0]
        found.append(status)
    return found


def kept(path: Path) -> tuple[int, set[str]]:
    """How many exchanges are whole on a tape, and what is wrong with it."""
    with TapeReader.open(path) as tape:
        whole = [one for one in tape.exchanges() if one.ending == "complete"]
    return len(whole), {one.code for one in verify(path).findings if not one.is_note} - UNFINISHED


@pytest.mark.nightly
def test_an_engine_that_is_out_of_memory_is_seen_to_die_and_loses_nothing_that_it_acknowledged(
    tools: Any, settings: Any, upstream: Any, group: Path
) -> None:
    upstream.answer("/", b"x" * 10_000)
    with Engine.start(settings) as engine:
        with clients(tools, engine, upstream.port, 1) as opened:
            assert answered(opened * FEW, b"{}") == [200] * FEW
        assert engine.flush() == FEW
        with clients(tools, engine, upstream.port, 20) as opened:
            (group / "cgroup.procs").write_text(str(engine.pid))
            (group / "memory.limit_in_bytes").write_text(str(4 << 20))
            answered(opened, BIG)
        assert engine._process.wait(tools.TIMEOUT_S) == -signal.SIGKILL
        with pytest.raises(FaultwireError, match="-9"):
            engine.stats()
    count, wrong = kept(settings.tape)
    assert count >= FEW
    assert wrong == set()


@pytest.mark.nightly
def test_in_the_same_group_without_the_limit_every_call_is_answered_and_kept(
    tools: Any, settings: Any, upstream: Any, group: Path
) -> None:
    upstream.answer("/", b"x" * 10_000)
    with Engine.start(settings) as engine:
        (group / "cgroup.procs").write_text(str(engine.pid))
        with clients(tools, engine, upstream.port, 3) as opened:
            assert answered(opened, BIG) == [200] * 3
        assert engine.flush() == 3
        assert str(engine.pid) in (group / "cgroup.procs").read_text()
        os.kill(engine.pid, signal.SIGTERM)
        assert engine._process.wait(tools.TIMEOUT_S) == 0
    assert kept(settings.tape) == (3, set())


@pytest.mark.parametrize("limited", [True, False], ids=["limited", "control"])
def test_an_engine_whose_allocations_fail_answers_nothing_that_is_not_kept(
    tools: Any, settings: Any, upstream: Any, limited: bool
) -> None:
    upstream.answer("/", b"x" * 10_000)
    with Engine.start(settings) as engine:
        with clients(tools, engine, upstream.port, 1) as opened:
            assert answered(opened * FEW, b"{}") == [200] * FEW
        assert engine.flush() == FEW
        with clients(tools, engine, upstream.port, 4) as opened:
            if limited:
                pages = int(Path(f"/proc/{engine.pid}/statm").read_text().split()[0])
                most = pages * resource.getpagesize() + ROOM
                resource.prlimit(engine.pid, resource.RLIMIT_AS, (most, most))
            statuses = answered(opened, BIG)
        os.kill(engine.pid, signal.SIGTERM)
        engine._process.wait(tools.TIMEOUT_S)
    count, wrong = kept(settings.tape)
    print(f"{statuses}, {count} kept")
    assert wrong == set()
    assert count >= FEW + statuses.count(200)
    assert (statuses == [200] * 4) == (not limited), "the limit was felt, and only the limit"
