"""Unfaulted traffic: the same as without faultwire, and event by event as it is sent."""

from __future__ import annotations

import json
import subprocess
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from harness import LIMIT_S, base_environment, direct, execute, faultwire
from test_sdk_matrix import PYTHON, command, ways

from faultwire.mock.answering import Answerer
from faultwire.mock.gate import Gate
from faultwire.mock.running import running
from faultwire.mock.server import MockServer


def at(port: int) -> dict[str, str]:
    """Point both SDKs at a local provider, as its user would."""
    return {
        "OPENAI_BASE_URL": f"http://localhost:{port}/v1",
        "ANTHROPIC_BASE_URL": f"http://localhost:{port}",
    }


@pytest.fixture(scope="module")
def provider() -> Iterator[int]:
    with running(MockServer(Answerer())) as server:
        yield server.http


def timeless(met: dict[str, Any]) -> dict[str, Any]:
    return {way: {k: v for k, v in seen.items() if k not in ("seconds", "gaps")} for way, seen in met.items()}


@pytest.mark.by_day("openai-3")
@pytest.mark.parametrize("agent", PYTHON)
def test_an_agent_sees_what_it_would_see_without_us(agent: str, provider: int, tmp_path: Path) -> None:
    asked = (*ways(agent), "tools")
    calm = execute(tmp_path, command(agent, *asked), "--allow-host", "localhost", keys=at(provider))
    assert calm.code == 0, calm.stderr
    alone = direct(tmp_path, command(agent, *asked), at(provider))
    assert timeless(calm.met) == timeless(alone)
    assert len(calm.exchanges) == len(ways(agent)) + 2, "all of its traffic came past us"
    assert all(e.upstream == e.delivered for e in calm.exchanges)


@pytest.mark.nightly
@pytest.mark.parametrize("agent", PYTHON)
def test_the_first_event_arrives_before_the_last_is_sent(agent: str, tmp_path: Path) -> None:
    gate = Gate(after_events=2)
    with running(MockServer(Answerer(), hold=gate)) as server:
        process = subprocess.Popen(
            [*faultwire(), "exec", "--allow-host", "localhost", "--", *command(agent, "first")],
            cwd=tmp_path, env=base_environment() | at(server.http), text=True,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        )  # fmt: skip
        alarm = threading.Timer(LIMIT_S, process.kill)
        alarm.start()
        try:
            assert process.stdout is not None
            line = process.stdout.readline()
            gate.open()  # a proxy that buffers never lets the line come, and the alarm ends the wait
            rest, errors = process.communicate(timeout=LIMIT_S)
        finally:
            alarm.cancel()
            process.kill()
            process.wait()
    assert json.loads(line) == {"first": True}, errors
    seen = json.loads(rest.splitlines()[-1])["first"]
    assert seen["finish"] in ("stop", "end_turn"), seen
