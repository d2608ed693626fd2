"""How a hold ends that nobody decides on: its client gives up, is killed, or the workbench is; and what is
edited of a WebSocket's message and of a tool's result on the page."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from tests.e2e.breakpoints.holding import COMMAND, broken, finished, running, tape_of
from tests.e2e.exec.conftest import here as here
from tests.e2e.workbench.test_hold import opened, set_break
from tests.e2e.workbench.test_hold_protocols import command, offered as offered, replayed

from faultwire.tape.read.reader import TapeReader

AGENT = """import json, os, sys, urllib.request as u
print(json.dumps({"pid": os.getpid()}), flush=True)
turns = [{"role": "user", "content": "Rivers?"}, *json.loads(MORE)]
body = json.dumps({"model": "gpt-4o-mini", "messages": turns}).encode()
head = {"content-type": "application/json", "authorization": "Bearer sk-none", "x-stainless-timeout": "LIMIT"}
try:
    asked = u.Request("https://api.openai.com/v1/chat/completions", body, head)
    got = json.load(u.urlopen(asked, timeout=LIMIT))
    print(json.dumps({"said": got["choices"][0]["message"]["content"]}), flush=True)
except OSError as error:
    print(json.dumps({"error": str(error)}), flush=True)
"""
LOOK = {"id": "c1", "type": "function", "function": {"name": "look", "arguments": "{}"}}
CALLED = [
    {"role": "assistant", "tool_calls": [LOOK]},
    {"role": "tool", "tool_call_id": "c1", "content": "the lake"},
]


def agent(here: Path, limit_s: int, more: list[dict[str, Any]] | None = None) -> list[str]:
    text = AGENT.replace("LIMIT", str(limit_s)).replace("MORE", repr(json.dumps(more or [])))
    (here / "plain_agent.py").write_text(text)
    return [sys.executable, "plain_agent.py"]


def first(here: Path) -> Any:
    with TapeReader.open(tape_of(here)) as reader:
        return next(iter(reader.exchanges("exec")))


def verified(here: Path) -> bool:
    check = [*COMMAND, "tape", "verify", str(tape_of(here))]
    return subprocess.run(check, cwd=here, capture_output=True, timeout=120).returncode == 0


@pytest.mark.nightly
def test_a_client_that_gives_up_while_it_is_held_takes_the_hold_with_it(page: Any, here: Path) -> None:
    with opened(page, here, command=agent(here, 4)) as (holding, process):
        set_break(page, "request")
        holding.go()
        page.locator("#held .countdown", has_text="its client waits").wait_for(timeout=60_000)
        page.keyboard.press("h")
        page.locator("#editor[open]").wait_for()
        page.locator("#held li").wait_for(state="detached", timeout=60_000)
        assert page.locator("#editor").get_attribute("open") is None, "nothing is left to be decided"
        out, err = process.communicate(timeout=120)
    assert "timed out" in out, out + err
    recorded = first(here)
    assert recorded.ending == "client_aborted"
    assert recorded.upstream is None, "no server was asked"
    assert verified(here)


@pytest.mark.nightly
@pytest.mark.cold
@pytest.mark.parametrize("at", ["request", "response"])
def test_an_agent_that_is_killed_while_it_is_held_leaves_nothing_held(page: Any, here: Path, at: str) -> None:
    with opened(page, here, command=agent(here, 100)) as (holding, process):
        set_break(page, at)
        assert process.stdout is not None
        holding.go()
        pid = json.loads(process.stdout.readline())["pid"]
        page.locator("#held li").wait_for(timeout=60_000)
        os.kill(pid, signal.SIGKILL)
        process.communicate(timeout=120)
    recorded = first(here)
    assert (recorded.ending, recorded.delivered) == ("client_aborted", None)
    assert verified(here)


@pytest.mark.nightly
@pytest.mark.cold
@pytest.mark.parametrize(("policy", "ending"), [("resume", "complete"), ("cut", "cut")])
def test_a_workbench_that_is_killed_lets_go_as_the_option_says(
    page: Any, here: Path, policy: str, ending: str
) -> None:
    with opened(page, here, "--on-ui-gone", policy, command=agent(here, 100)) as (holding, process):
        set_break(page, "response")
        holding.go()
        page.locator("#held li").wait_for(timeout=60_000)
        (workbench,) = children(process.pid, b"faultwire.workbench")
        os.kill(workbench, signal.SIGKILL)
        page.locator("#held .worse", has_text="The workbench has ended while 1 call was held").wait_for(
            timeout=30_000
        )
        out, _ = process.communicate(timeout=120)
    assert ("said" in out) is (policy == "resume"), out
    recorded = first(here)
    assert recorded.ending == ending
    assert "its controller ended" in (recorded.faults[0].effect or "")


def children(pid: int, name: bytes) -> list[int]:
    found = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    return [int(one) for one in found if name in Path(f"/proc/{one}/cmdline").read_bytes()]


@pytest.mark.nightly
def test_a_message_of_a_websocket_is_edited_raw_and_a_replay_has_the_edit(here: Path) -> None:
    words = command("websocket")
    with (
        running(here, words, "--mock") as (holding, process),
        broken(holding, "--at", "event", "--event", "1", "--times", "1"),
    ):
        holding.go()
        (held,) = holding.held()
        event = json.loads(holding.look(held["id"])["shown"]["event"])
        (here / "raw.json").write_text(json.dumps({**event, "event_id": "edited_by_hand"}))
        holding.control("resume", held["id"], "--raw", "raw.json")
        got = finished(process)
    assert got["whole"] is True
    recorded = first(here)
    texts = [one.data for one in recorded.messages if one.by == "server"]
    assert any(b"edited_by_hand" in one for one in texts)
    assert verified(here)
    assert replayed(here, words)["texts"] == got["texts"]


@pytest.mark.nightly
def test_a_tool_s_result_is_edited_on_the_page(page: Any, here: Path) -> None:
    with opened(page, here, command=agent(here, 100, CALLED)) as (holding, process):
        set_break(page, "tool_result")
        holding.go()
        page.locator("#held li").wait_for(timeout=60_000)
        page.keyboard.press("h")
        page.locator("#editor[open]").wait_for()
        page.get_by_label("result of look").fill("the sea")
        page.get_by_role("button", name="Resume").click()
        page.locator("#last", has_text="edited").wait_for()
        process.communicate(timeout=120)
    with TapeReader.open(tape_of(here)) as reader:
        sent = reader.history("exec").forwarded
    assert b"the sea" in (sent[0][1].body or b"")
    assert b"the lake" not in (sent[0][1].body or b"")
    assert b"the lake" in (first(here).request.body or b""), "the tape has what the agent sent"
    assert verified(here)


if sys.platform != "linux":
    pytest.skip("processes are found by /proc", allow_module_level=True)
