"""What is decided from the command line about calls that are held, and what happens when nobody does."""

from __future__ import annotations

import json
import os
import signal
from pathlib import Path

import pytest
from tests.e2e.agents import environments
from tests.e2e.breakpoints.holding import Holding, broken, finished, running, tape_of

from faultwire.tape.read.reader import TapeReader

AGENT = Path(__file__).parent / "tool_agent.py"


def agent() -> list[str]:
    return [str(environments.python("openai-3")), str(AGENT), "chat"]


def effects(here: Path) -> list[str | None]:
    with TapeReader.open(tape_of(here)) as reader:
        return [fault.effect for one in reader.exchanges("exec") for fault in one.faults]


@pytest.mark.parametrize("native", ["off", "on"])
def test_a_retry_by_hand_has_the_sdk_make_the_call_again(
    here: Path, monkeypatch: pytest.MonkeyPatch, native: str
) -> None:
    monkeypatch.setenv("FAULTWIRE_NATIVE", native)
    with running(here, agent(), "--mock") as (holding, process), broken(holding, "--times", "1"):
        holding.go()
        (held,) = holding.held()
        assert "told to be repeated" in holding.control("retry", held["id"])
        assert finished(process)["calls"][0]["arguments"] == {"expression": "6*7"}
    with TapeReader.open(tape_of(here)) as reader:
        statuses = [one.delivered.status for one in reader.exchanges("exec") if one.delivered]
    assert statuses == [503, 200]


def test_a_head_is_edited_before_the_client_gets_it(here: Path) -> None:
    with (
        running(here, agent(), "--mock") as (holding, process),
        broken(holding, "--at", "response", "--times", "1"),
    ):
        holding.go()
        (held,) = holding.held()
        assert holding.look(held["id"])["shown"]["head"]["status"] == 200
        holding.control("resume", held["id"], "--status", "400")
        out, err = process.communicate(timeout=120)
    assert "BadRequestError" in err, out + err
    with TapeReader.open(tape_of(here)) as reader:
        (recorded,) = reader.exchanges("exec")
    assert recorded.upstream is not None
    assert recorded.delivered is not None
    assert (recorded.upstream.status, recorded.delivered.status) == (200, 400)


def test_what_is_not_held_is_not_decided_on_and_a_bad_edit_leaves_it_held(here: Path) -> None:
    with running(here, agent(), "--mock") as (holding, process), broken(holding, "--at", "tool_call"):
        assert "found nothing held as `h9`" in holding.control("resume", "h9", code=2)
        holding.go()
        (held,) = holding.held()
        assert "expected `resume` or `cut`" in holding.control("retry", held["id"], code=2)
        assert "expected one of 1" in holding.control(
            "resume", held["id"], "--call", "3", "--argument", "a=1", code=2
        )
        holding.control("resume", held["id"])
        assert finished(process)["calls"][0]["arguments"] == {"expression": "6*7"}
    assert effects(here) == ["held at the tool call of `calculator`, then resumed as it was"]


@pytest.mark.cold
@pytest.mark.parametrize(("gone", "ending"), [("resume", "complete"), ("cut", "cut")])
def test_a_controller_that_is_killed_leaves_nothing_held(here: Path, gone: str, ending: str) -> None:
    with (
        running(here, agent(), "--mock") as (holding, process),
        broken(holding, "--at", "tool_call", "--on-gone", gone) as controller,
    ):
        holding.go()
        holding.held()
        os.kill(controller.pid, signal.SIGKILL)
        process.communicate(timeout=120)
    with TapeReader.open(tape_of(here)) as reader:
        first = next(iter(reader.exchanges("exec")))
    assert first.ending == ending
    assert "its controller ended" in (first.faults[0].effect or "")


def test_no_secret_is_listed_or_shown(here: Path) -> None:
    secret = "sk-proj-" + "Z9y8X7w6" * 6
    key = {"OPENAI_API_KEY": secret}
    os.environ.update(key)
    try:
        with running(here, agent(), "--mock") as (holding, process), broken(holding):
            holding.go()
            (held,) = holding.held()
            told = json.dumps(holding.look(held["id"])) + holding.control("held")
            holding.control("resume", held["id"])
            finished(process)
    finally:
        del os.environ["OPENAI_API_KEY"]
    assert "authorization" in told.lower()
    assert secret not in told
    assert isinstance(holding, Holding)
