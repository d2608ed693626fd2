"""A search in another terminal comes up on an open page, goes on there, and leads to what it found."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from tests.e2e.workbench.accessibility import findings
from tests.e2e.workbench.conftest import WIDTHS
from tests.e2e.workbench.test_after_page import COMMAND, started
from tests.e2e.workbench.test_analyses_page import FALLBACK, SINGLE, STATUS, ran

GATED = """import os, sys, time
from pathlib import Path
here = Path(os.environ["GATE"])
count = len(list(here.glob("run-*"))) + 1
(here / f"run-{count}").touch()
while count >= FROM and not (here / "go").exists():
    time.sleep(0.02)
"""
"""An agent whose runs from a number on wait for a file: the search stands still until we say."""


@contextmanager
def searching(folder: Path, agent: str, *words: str, start: int) -> Iterator[subprocess.Popen[str]]:
    """A command whose agent stops at its `start`-th run."""
    (folder / "gate").mkdir()
    (folder / "agent.py").write_text(GATED.replace("FROM", str(start)) + agent)
    environment = {**os.environ, "GATE": str(folder / "gate")}
    with subprocess.Popen(
        [*COMMAND, *words], cwd=folder, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT, text=True, env=environment,
    ) as process:  # fmt: skip
        try:
            yield process
        finally:
            if process.poll() is None:
                process.kill()


def first_run(folder: Path) -> None:
    """Some tape for the page."""
    (folder / "first.py").write_text(FALLBACK)
    ran(folder, "exec", "-q", "--mock", "--", sys.executable, "first.py", code=0)


AGENTS = {
    "explore": (FALLBACK, ("explore", "-q", "--mock", *STATUS, "--", sys.executable, "agent.py")),
    "evolve": (
        SINGLE,
        ("evolve", "-q", "--mock", "--prompt", "What is 17 times 23?", "--expect", 'contains: "391"',
         "--type", "tone_shift", "--budget", "30", "--finds", "1", "--", sys.executable, "agent.py",
         "{prompt}"),
    ),
}  # fmt: skip


@pytest.mark.by_day("explore")
@pytest.mark.parametrize("kind", AGENTS)
def test_it_comes_up_counts_on_and_leads_to_its_result(page: Any, tmp_path: Path, kind: str) -> None:
    agent, words = AGENTS[kind]
    first_run(tmp_path)
    with started(tmp_path, "ui", "last") as (_, link):
        page.goto(link)
        page.wait_for_selector("body[data-ready]")
        assert page.locator("#searches").is_hidden(), "nothing is said of no search"
        with searching(tmp_path, agent, *words, start=3) as process:
            line = page.locator("#searches li", has_text=kind)
            line.get_by_text("2 runs of the agent", exact=False).wait_for(timeout=90_000)
            assert "running" in line.inner_text()
            assert line.get_by_role("link").count() == 0
            for width in WIDTHS:
                page.set_viewport_size({"width": width, "height": 900})
                assert page.evaluate("document.documentElement.scrollWidth") <= width
                assert findings(page) == []
            page.set_viewport_size({"width": 1440, "height": 900})
            (tmp_path / "gate" / "go").touch()
            out, _ = process.communicate(timeout=280)
            assert process.returncode in (0, 1), out
        line.get_by_text("ended").wait_for(timeout=30_000)
        line.get_by_role("link", name="show what it found").click()
        page.locator("#analysis-view .card").first.wait_for()
        assert page.locator("#analysis-view .banner").count() == 0
        assert page.deeds.messages == []


def test_one_that_is_killed_is_said_to_have_ended_without_a_result(page: Any, tmp_path: Path) -> None:
    agent, words = AGENTS["explore"]
    first_run(tmp_path)
    with started(tmp_path, "ui", "last") as (_, link):
        page.goto(link)
        page.wait_for_selector("body[data-ready]")
        with searching(tmp_path, agent, *words, start=2) as process:
            line = page.locator("#searches li", has_text="explore")
            line.get_by_text("1 run of the agent", exact=False).wait_for(timeout=90_000)
            process.kill()
            process.wait()
            line.get_by_text("ended").wait_for(timeout=30_000)
            assert line.get_by_role("link").count() == 0
