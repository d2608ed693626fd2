"""Calls over HTTP/2, gRPC and a WebSocket are held and edited on the page; replays serve what was edited."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from tests.e2e.agents import environments
from tests.e2e.breakpoints.holding import COMMAND, broken, finished, running, tape_of
from tests.e2e.exec.conftest import here as here
from tests.e2e.workbench.test_hold import opened, set_break

from faultwire.tape.read.reader import TapeReader

AGENT = Path(__file__).parents[1] / "breakpoints" / "protocol_agent.py"
PROTOCOL = {"http2": "openai_chat", "grpc": "gemini_grpc", "websocket": "realtime"}
ENVIRONMENT = {"grpc": "google-generativeai-0", "websocket": "openai-3-realtime"}
EDITED = [{"name": "calculator", "arguments": {"expression": "9*9"}}]


@pytest.fixture(autouse=True)
def offered(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """`here` has taken all variables away."""
    monkeypatch.setenv("OPENAI_API_KEY", "sk-test-key-of-nobody")


def command(way: str, *words: str) -> list[str]:
    python = str(environments.python(ENVIRONMENT[way])) if way in ENVIRONMENT else sys.executable
    return [python, str(AGENT), way, *words]


def replayed(here: Path, words: list[str]) -> dict[str, Any]:
    """What the agent gets of the newest tape."""
    done = subprocess.run(
        [*COMMAND, "exec", "--replay", str(tape_of(here)), "--", *words],
        cwd=here, capture_output=True, text=True, timeout=120, env=dict(os.environ),
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    line = next(one for one in done.stdout.splitlines() if one.startswith("{"))
    return dict(json.loads(line))


@pytest.mark.by_day("http2")
@pytest.mark.parametrize("way", PROTOCOL)
def test_a_call_is_edited_on_the_page_and_a_replay_has_the_edit(page: Any, here: Path, way: str) -> None:
    words = command(way, "tool")
    with opened(page, here, command=words) as (holding, process):
        set_break(page, "tool_call")
        holding.go()
        page.locator("#held button").wait_for(timeout=60_000)
        page.keyboard.press("h")
        page.locator("#editor[open]").wait_for()
        page.get_by_label("expression").fill("9*9")
        page.get_by_role("button", name="Resume").click()
        page.locator("#last", has_text="resumed with `expression` of `calculator` edited").wait_for()
        got = finished(process)
    assert got["calls"] == EDITED
    assert got["whole"] is True
    with TapeReader.open(tape_of(here)) as reader:
        (recorded,) = reader.exchanges("exec")
    assert recorded.protocol == PROTOCOL[way]
    assert recorded.http2 is (way != "websocket")
    check = [*COMMAND, "tape", "verify", str(tape_of(here))]
    assert subprocess.run(check, cwd=here, capture_output=True, timeout=120).returncode == 0
    assert replayed(here, words)["calls"] == EDITED


@pytest.mark.nightly
@pytest.mark.parametrize("at", ["request", "response", "event"])
@pytest.mark.parametrize("way", PROTOCOL)
def test_it_is_held_at_each_place_and_goes_on_as_it_was(here: Path, way: str, at: str) -> None:
    with (
        running(here, command(way), "--mock") as (holding, process),
        broken(holding, "--at", at, "--times", "1"),
    ):
        holding.go()
        (held,) = holding.held()
        assert held["protocol"] == PROTOCOL[way]
        assert "resumed as it was" in holding.control("resume", held["id"])
        got = finished(process)
    assert "".join(got["texts"]).endswith("Tell me about rivers.")
    assert got["whole"] is True


@pytest.mark.nightly
@pytest.mark.parametrize("way", ["grpc", "websocket"])
def test_a_text_that_cannot_be_set_is_refused_in_words_and_it_stays_held(here: Path, way: str) -> None:
    with (
        running(here, command(way), "--mock") as (holding, process),
        broken(holding, "--at", "event", "--event", "2", "--times", "1"),
    ):
        holding.go()
        (held,) = holding.held()
        refused = holding.control("resume", held["id"], "--text", "LAKE", code=2)
        assert "whose text cannot be edited by itself" in refused
        assert len(holding.held()) == 1
        holding.control("resume", held["id"])
        assert "".join(finished(process)["texts"]).endswith("Tell me about rivers.")


@pytest.mark.nightly
@pytest.mark.parametrize("way", PROTOCOL)
def test_a_cut_ends_the_call(here: Path, way: str) -> None:
    with (
        running(here, command(way), "--mock") as (holding, process),
        broken(holding, "--at", "event", "--event", "3", "--times", "1"),
    ):
        holding.go()
        (held,) = holding.held()
        holding.control("cut", held["id"])
        got = finished(process)
    assert got["whole"] is False
    with TapeReader.open(tape_of(here)) as reader:
        first = next(iter(reader.exchanges("exec")))
    assert first.ending == "cut"
