"""What comes up on an open page by itself, beside which command: each cell of the documentation's table."""

from __future__ import annotations

import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import pytest
from tests.e2e.breakpoints.holding import COMMAND, LIMIT_S, Holding, broken
from tests.e2e.play.conftest import Project, project as project
from tests.e2e.workbench.test_after_page import started

from faultwire.tape.read.reader import TapeReader
from faultwire.trials.journal import Journal
from faultwire.trials.model import Outcome

DOCUMENT = Path(__file__).parents[3] / "docs" / "howto" / "workbench.md"
AGENT = [
    "sh", "-c", 'until [ -e go ]; do sleep 0.02; done; "$0" "$@"; until [ -e done ]; do sleep 0.02; done',
    sys.executable, "talker.py",
]  # fmt: skip
"""It asks once we say so, and stays until we say so: the page outlives its answer."""
QUESTION = "What is the capital of France?"
LIVE, AFTER = "while a run goes on", "afterwards"
COMMANDS = ("exec", "proxy", "run", "ci", "ui")


def table() -> dict[tuple[str, str], str]:
    """The cells of the table, by view and column."""
    text = DOCUMENT.read_text().partition("### What comes up by itself")[2].partition("\n#")[0]
    lines = [
        [one.strip() for one in line.strip("|").split("|")] for line in text.splitlines() if line[:1] == "|"
    ]
    (_, *columns), _, *rows = lines
    return {
        (view, column): cell for view, *cells in rows for column, cell in zip(columns, cells, strict=True)
    }


@contextmanager
def shown(page: Any, project: Project, kind: str) -> Iterator[Holding]:
    """The page beside a command whose agent waits for us."""
    project.write(
        agent={"type": "command", "command": [*AGENT, "{prompt}"]}, golden_prompts=[QUESTION],
        advanced={"concurrency": 1, "seed": 7},
    )  # fmt: skip
    words = {
        "exec": ("exec", "--mock", "--ui", "--", *AGENT, QUESTION),
        "proxy": ("proxy", "--mock", "--ui"),
        "run": ("run", "--ui"),
        "ci": ("ci", "--ui"),
    }
    with started(project.folder, *words.get(kind, words["exec"]), ends=True) as (process, link):
        if kind == "ui":
            with started(project.folder, "ui", "last") as (_, other):
                yield opened(page, project, other)
                leave(project, process)
            return
        if kind != "proxy":
            yield opened(page, project, link)
            leave(project, process)
            return
        script = f'eval "$({sys.executable} -m faultwire env)"; exec "$@"'
        with subprocess.Popen(["sh", "-c", script, "sh", *AGENT, QUESTION], cwd=project.folder) as agent:
            yield opened(page, project, link)
            (project.folder / "done").touch()
            assert agent.wait(60) == 0
            process.send_signal(signal.SIGTERM)
            leave(project, process)


def opened(page: Any, project: Project, link: str) -> Holding:
    page.goto(link)
    page.wait_for_selector("body[data-ready]")
    return Holding(project.folder)


def leave(project: Project, process: subprocess.Popen[str]) -> None:
    (project.folder / "done").touch()
    _, err = process.communicate(timeout=200)
    assert process.returncode in (0, 1), err


@contextmanager
def searching(folder: Path) -> Iterator[None]:
    """The state file of a search that goes on, as another terminal holds it."""
    place = folder / ".faultwire" / "shrink"
    place.mkdir(exist_ok=True)
    with closing(Journal.open(place / "0a1b2c3d4e5f.jsonl", "about")) as journal:
        journal.append("case", Outcome(True, 1, 0.0, 0.1, "it exited with 3"))
        yield


def verified(page: Any) -> None:
    page.locator("#totals", has_text="not asked for").wait_for()
    page.locator("#verify").click()
    page.locator("#totals", has_text="not asked for").wait_for(state="detached", timeout=30_000)


def listed(page: Any, project: Project) -> None:
    page.locator("#runs:not([open])").wait_for(state="attached")
    page.keyboard.press("r")
    page.locator("#runs-list .run", has_text=project.runs[-1].name).wait_for()
    page.keyboard.press("Escape")


@pytest.mark.nightly
@pytest.mark.parametrize("kind", COMMANDS)
def test_each_view_beside_a_run_that_goes_on(page: Any, project: Project, kind: str) -> None:
    told = {view: cell for (view, column), cell in table().items() if column == LIVE}
    with shown(page, project, kind) as holding, broken(holding, "--times", "1"):
        page.locator("#control span", has_text="(1)").wait_for(timeout=30_000)
        assert page.locator(".space .line").count() == 0
        (project.folder / "go").touch()
        page.locator(".space .line .chip", has_text="waiting").wait_for(timeout=60_000)
        page.locator("#totals dd", has_text=re.compile("^1$")).first.wait_for()
        page.locator("#held li").wait_for(timeout=30_000)
        page.keyboard.press("g")
        page.keyboard.press("Enter")
        page.locator("#view [data-part=conversation]").wait_for()
        before = page.locator("#view").inner_text()
        with searching(project.folder):
            page.locator("#searches li", has_text="1 run of the agent, 1 failed").wait_for(timeout=30_000)
        page.locator("#searches li", has_text="ended").wait_for(timeout=30_000)
        listed(page, project)
        verified(page)
        (held,) = holding.held()
        holding.control("resume", held["id"])
        page.locator("#held li").wait_for(state="detached", timeout=30_000)
        page.locator(".space .line .chip.pass", has_text="200").wait_for(timeout=30_000)
        page.wait_for_function("before => document.getElementById('view').innerText !== before", arg=before)
        found = {
            "exchanges, sums, the tape's state": "by itself", "the exchange that is open": "by itself",
            "what is held and armed": "by itself", "searches in other terminals": "by itself",
            "runs, results and reports (`r`)": "when opened", "verification": "when asked for",
        }  # fmt: skip
        assert found == told


def test_each_view_afterwards(page: Any, project: Project) -> None:
    told = {view: cell for (view, column), cell in table().items() if column == AFTER}
    (project.folder / "go").touch()
    (project.folder / "done").touch()
    command = [*COMMAND, "exec", "-q", "--mock", "--", *AGENT, QUESTION]
    done = subprocess.run(command, cwd=project.folder, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    with started(project.folder, "ui", "last") as (_, link):
        page.goto(link)
        page.wait_for_selector("body[data-ready]")
        page.locator(".space .line .chip.pass", has_text="200").wait_for()
        page.locator("#state", has_text="ended").wait_for()
        assert page.locator("#control").is_hidden()
        page.keyboard.press("b")
        assert page.locator("#arm[open]").count() == 0
        with searching(project.folder):
            page.locator("#searches li", has_text="1 run of the agent, 1 failed").wait_for(timeout=30_000)
        listed(page, project)
        verified(page)
        page.locator("#totals", has_text="verifies").wait_for()
        found = {
            "exchanges, sums, the tape's state": "as it is on the tape",
            "the exchange that is open": "as it is on the tape",
            "what is held and armed": "not offered", "searches in other terminals": "by itself",
            "runs, results and reports (`r`)": "when opened", "verification": "when asked for",
        }  # fmt: skip
        assert found == told


def test_control_a_page_without_its_stream_shows_nothing_new(page: Any, project: Project) -> None:
    """Without its stream the page stays as it was: what the tests above see comes by it."""
    page.route("**/api/live*", lambda route: None)
    with shown(page, project, "exec"):
        (project.folder / "go").touch()
        until_taped(project)
        assert page.locator(".space .line").count() == 0
        assert "0" in page.locator("#totals dd").first.inner_text()
        page.unroute_all(behavior="ignoreErrors")


def until_taped(project: Project) -> None:
    """Until the exchange is on the tape for whoever reads it."""
    ends = time.monotonic() + LIMIT_S
    while time.monotonic() < ends:
        with TapeReader.open(project.runs[-1] / "run.tape") as reader:
            if any(one.ending == "complete" for one in reader.exchanges()):
                return
        time.sleep(0.05)
    raise AssertionError("no exchange came")
