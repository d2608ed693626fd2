"""Calls held, edited and broken by hand on the page, with a real agent, engine and browser."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from tests.e2e.agents import environments
from tests.e2e.breakpoints.holding import Holding, finished, running, tape_of
from tests.e2e.exec.conftest import here as here
from tests.e2e.workbench.accessibility import findings
from tests.e2e.workbench.conftest import WIDTHS

from faultwire.tape.read.reader import TapeReader

AGENT = Path(__file__).parents[1] / "breakpoints" / "tool_agent.py"
SHOTS = os.environ.get("FAULTWIRE_SHOTS")
"""A folder for screenshots of each view, for somebody who looks at them."""


def agent() -> list[str]:
    return [str(environments.python("openai-3")), str(AGENT), "chat"]


@contextmanager
def opened(
    page: Any, here: Path, *options: str, command: list[str] | None = None
) -> Iterator[tuple[Holding, subprocess.Popen[str]]]:
    """A run with its page open."""
    with running(here, command or agent(), "--mock", "--ui", *options) as (holding, process):
        assert process.stderr is not None
        line = next(one for one in process.stderr if one.startswith("workbench"))
        page.goto(line.split()[1])
        page.wait_for_selector("body[data-ready]")
        page.locator("#control:not([hidden])").wait_for()
        yield holding, process


def set_break(page: Any, at: str) -> None:
    page.keyboard.press("b")
    page.locator("#arm[open]").wait_for()
    page.locator("#break-at").select_option(at)
    page.get_by_role("button", name="Set breakpoint").click()
    page.locator("#armed .chip.fault").wait_for()
    page.locator("#arm").get_by_role("button", name="Close").click()


def shots(page: Any, name: str) -> None:
    if SHOTS is None:
        return
    for scheme in ("light", "dark"):
        page.emulate_media(color_scheme=scheme)
        for width in WIDTHS:
            page.set_viewport_size({"width": width, "height": 900})
            page.screenshot(path=f"{SHOTS}/{name}-{width}-{scheme}.png")
    page.set_viewport_size({"width": 1440, "height": 900})


def test_an_argument_is_edited_in_a_form_of_the_tools_schema(page: Any, here: Path) -> None:
    with opened(page, here) as (holding, process):
        page.keyboard.press("b")
        page.locator("#arm[open]").wait_for()
        assert [one for one in findings(page) if one.startswith(("serious", "critical"))] == []
        shots(page, "arm")
        page.locator("#arm").get_by_role("button", name="Close").click()
        set_break(page, "tool_call")
        holding.go()
        page.locator("#held .countdown", has_text="its client waits 5").wait_for(timeout=60_000)
        page.keyboard.press("h")
        page.locator("#editor[open]").wait_for()
        assert [one for one in findings(page) if one.startswith(("serious", "critical"))] == []
        shots(page, "held")
        page.get_by_label("expression").fill("9*9")
        page.get_by_role("button", name="Resume").click()
        page.locator("#last", has_text="resumed with `expression` of `calculator` edited").wait_for()
        assert finished(process)["calls"] == [{"name": "calculator", "arguments": {"expression": "9*9"}}]
    with TapeReader.open(tape_of(here)) as reader:
        (recorded,) = reader.exchanges("exec")
    (line,) = recorded.faults
    assert line.effect == (
        "held at the tool call of `calculator`, then resumed with `expression` of `calculator` edited"
    )


def test_a_call_is_answered_with_a_text(page: Any, here: Path) -> None:
    with opened(page, here) as (holding, process):
        set_break(page, "request")
        holding.go()
        page.locator("#held button").wait_for(timeout=60_000)
        page.locator("#held button").click()
        page.locator("summary", has_text="answer from here").click()
        page.get_by_label("the answer", exact=True).fill("No tool is needed.")
        page.get_by_role("button", name="Answer from here").click()
        told = finished(process)
    assert told["calls"] == []
    assert len(told["events"]) >= 2
    with TapeReader.open(tape_of(here)) as reader:
        (recorded,) = reader.exchanges("exec")
    assert recorded.upstream is None
    assert recorded.delivered is not None
    assert b"tool" in (recorded.delivered.body or b"")


@pytest.mark.parametrize(("policy", "calls"), [("resume", 1), ("cut", 0)])
def test_what_is_held_goes_on_as_the_option_says_when_the_page_is_left(
    page: Any, here: Path, policy: str, calls: int
) -> None:
    with opened(page, here, "--on-ui-gone", policy) as (holding, process):
        set_break(page, "tool_call")
        holding.go()
        page.locator("#held button").wait_for(timeout=60_000)
        page.close()
        out, err = process.communicate(timeout=120)
    if calls:
        assert json.loads(out.splitlines()[0])["calls"][0]["arguments"] == {"expression": "6*7"}
    else:
        assert "RemoteProtocolError" in err or "APIConnectionError" in err or "peer closed" in err
    with TapeReader.open(tape_of(here)) as reader:
        first = next(iter(reader.exchanges("exec")))
    assert first.ending == ("complete" if calls else "cut")
    assert "its controller ended" in (first.faults[0].effect or "")


@pytest.mark.cold
def test_the_page_says_that_the_engine_was_killed_while_it_held_a_call(page: Any, here: Path) -> None:
    with opened(page, here) as (holding, process):
        set_break(page, "request")
        holding.go()
        page.locator("#held button").wait_for(timeout=60_000)
        (engine,) = _engines(process.pid)
        os.kill(engine, signal.SIGKILL)
        # Either word comes: the command ends with its engine, and the workbench with the command.
        page.locator("#held .worse", has_text="has ended while 1 call was held").wait_for(timeout=30_000)
        assert "connections" in page.locator("#held .worse").inner_text()
        process.communicate(timeout=120)
    assert process.returncode != 0


def _engines(pid: int) -> list[int]:
    """The engine among a command's children."""
    found = []
    for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split():
        if b"faultwire.mitm" in Path(f"/proc/{child}/cmdline").read_bytes():
            found.append(int(child))
    return found


def test_a_fault_is_armed_for_the_next_match(page: Any, here: Path) -> None:
    with opened(page, here) as (holding, process):
        page.keyboard.press("b")
        page.locator("#arm[open]").wait_for()
        page.locator("#arm-fault").select_option("status")
        page.locator("#arm-settings").get_by_label("code", exact=False).first.fill("503")
        page.locator("#arm-on").fill("kind: llm")
        page.get_by_role("button", name="Arm", exact=True).click()
        page.locator("#armed li", has_text="status").wait_for()
        page.locator("#arm").get_by_role("button", name="Close").click()
        holding.go()
        assert finished(process)["calls"][0]["arguments"] == {"expression": "6*7"}
    with TapeReader.open(tape_of(here)) as reader:
        outcomes = [[fault.outcome for fault in one.faults] for one in reader.exchanges("exec")]
    assert outcomes[0] == ["fired"]
    assert [one for one in outcomes[1:] if "fired" in one] == []


def test_a_setting_that_is_wrong_is_explained_and_nothing_is_armed(page: Any, here: Path) -> None:
    with opened(page, here) as (holding, process):
        page.keyboard.press("b")
        page.locator("#arm[open]").wait_for()
        page.locator("#arm-fault").select_option("status")
        page.locator("#arm-on").fill("colour: red")
        page.locator("#arm-settings").get_by_label("code", exact=False).first.fill("503")
        page.get_by_role("button", name="Arm", exact=True).click()
        page.locator("#arm-told", has_text="colour").wait_for()
        assert page.locator("#armed li").count() == 0
        holding.go()
        finished(process)


if sys.platform != "linux":
    pytest.skip("the engine is found by /proc", allow_module_level=True)
