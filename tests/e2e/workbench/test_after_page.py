"""Earlier runs on the page: a report with its matrix and evidence, a comparison, a fork; `--ui` of `run`."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from tests.e2e.play.conftest import TALKER, Project, project as project
from tests.e2e.workbench.accessibility import findings
from tests.e2e.workbench.test_hold import shots

COMMAND = [sys.executable, "-m", "faultwire"]


@contextmanager
def started(folder: Path, *words: str, ends: bool = False) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """A command that prints a link, and the link."""
    with subprocess.Popen(
        [*COMMAND, *words], cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as one:
        try:
            stream = one.stderr if ends else one.stdout
            assert stream is not None
            line = next(text for text in stream if "#token=" in text)
            yield one, next(word for word in line.split() if "#token=" in word)
        finally:
            if one.poll() is None:
                one.send_signal(signal.SIGTERM)
                one.communicate(timeout=60)


@pytest.fixture
def played(project: Project) -> Project:
    """Two runs of one agent, of which the second meets a fault."""
    assert TALKER.exists()
    project.write()
    assert project.run("run", "--quiet").returncode == 0
    project.run("run", "--quiet", "--chaos-only", "--chaos-profile", "api_outage")
    return project


def test_what_was_blamed_is_listed_and_opens(page: Any, played: Project) -> None:
    folder = played.folder / ".faultwire" / "blame" / "0a1b2c"
    folder.mkdir(parents=True)
    (folder / "blame.html").write_text("<title>t</title><p id=x>why</p><script>x.textContent='ran'</script>")
    with started(played.folder, "ui", "last") as (_, link):
        page.goto(link)
        page.wait_for_selector("body[data-ready]")
        page.keyboard.press("r")
        with page.context.expect_page() as opened:
            page.locator("#analyses .run", has_text="0a1b2c").get_by_role("link").click()
        opened.value.wait_for_load_state()
        assert opened.value.locator("#x").inner_text() == "why"


def test_a_run_is_looked_at_compared_and_forked_from(page: Any, played: Project) -> None:
    first, shown = (run.name for run in played.runs[:2])
    with started(played.folder, "ui", "last") as (_, link):
        page.goto(link)
        page.wait_for_selector("body[data-ready]")
        page.keyboard.press("r")
        page.locator("#runs[open] .run").first.wait_for()
        assert page.locator("#runs .run:not(#analyses .run)").count() == 2
        assert page.locator(".run", has_text=shown).get_by_role("button").count() == 0, "with itself"
        assert "shown here" in page.locator(".run", has_text=shown).inner_text()
        assert "shown here" not in page.locator("#runs .run:not(#analyses .run)", has_text=first).inner_text()
        page.locator(".run", has_text=first).get_by_role("button").click()
        page.locator("#comparison [role=status]", has_text="the same").wait_for(timeout=30_000)
        assert [one for one in findings(page) if one.startswith(("serious", "critical"))] == []
        shots(page, "runs")
        with page.context.expect_page() as opened:
            page.locator(".run", has_text=first).get_by_role("link").first.click()
        report = opened.value
        report.wait_for_load_state()
        assert "verdict" in report.inner_text("body")
        assert report.evaluate("getComputedStyle(document.body).backgroundColor") != "rgba(0, 0, 0, 0)"
        report.close()
        page.locator("#runs").get_by_role("button", name="Close").click()
        page.locator("#list").focus()
        page.keyboard.press("Enter")
        page.locator("#forks").click()
        page.locator("#fork[open]").wait_for()
        page.locator("#fork-text").fill("It isn't here.")
        command = page.locator("#fork-command").inner_text()
        assert "faultwire fork " in command
        assert """'text="It isn'\\''t here."'""" in command
        assert [one for one in findings(page) if one.startswith(("serious", "critical"))] == []
        shots(page, "fork")
    assert [one for one in page.deeds.messages if "Content Security Policy" in one] == []


def test_the_page_stands_beside_a_run_of_a_configuration(page: Any, project: Project) -> None:
    project.write(
        agent={
            "type": "command",
            "command": ["sh", "-c", 'sleep 3; exec "$0" "$@"', sys.executable, "talker.py", "{prompt}"],
        }
    )
    with started(project.folder, "run", "--ui", ends=True) as (run, link):
        page.goto(link)
        page.wait_for_selector("body[data-ready]")
        page.locator(".space .line").first.wait_for(timeout=60_000)
        out, err = run.communicate(timeout=120)
        assert run.returncode == 0, out + err
    assert os.listdir(project.folder / ".faultwire" / "workbench") == []


def test_a_ci_run_is_shown_as_it_comes_held_by_hand_and_left_with_its_reports(
    page: Any, project: Project
) -> None:
    """Two phases on one tape; the page holds a call of the run, decides, and is gone with the run."""
    project.write(
        agent={
            "type": "command",
            "command": ["sh", "-c", 'sleep 4; exec "$0" "$@"', sys.executable, "talker.py", "{prompt}"],
        },
        golden_prompts=["What is the capital of France?"],
        mutations={"types": ["noise"], "count": 1},
        chaos={"llm_faults": [{"mode": "rate_limit"}]},
        advanced={"concurrency": 1, "seed": 7},
    )
    with started(project.folder, "ci", "--ui", ends=True) as (run, link):
        page.goto(link)
        page.wait_for_selector("body[data-ready]")
        page.locator("#control:not([hidden])").wait_for()
        page.keyboard.press("b")
        page.locator("#arm[open]").wait_for()
        page.locator("#break-times").fill("1")
        page.get_by_role("button", name="Set breakpoint").click()
        page.locator("#armed .chip.fault").wait_for()
        page.locator("#arm").get_by_role("button", name="Close").click()
        page.locator("#held button").wait_for(timeout=120_000)
        page.keyboard.press("h")
        page.locator("#editor[open]").wait_for()
        page.get_by_role("button", name="Resume").click()
        page.locator("#last", has_text="resumed as it was").wait_for()
        page.locator(".space .line").nth(1).wait_for(timeout=120_000)
        out, err = run.communicate(timeout=240)
        assert run.returncode in (0, 1), out + err
        page.locator("#closed", has_text="does not answer").wait_for()
    assert project.about()["command"] == "ci"
    with started(project.folder, "ui", "last") as (_, link):
        page.goto(link)
        page.wait_for_selector("body[data-ready]")
        page.locator(".space .line .chip.fault").first.wait_for()
        page.keyboard.press("r")
        links = page.locator("#runs[open] .run").first.get_by_role("link")
        links.first.wait_for()
        assert {"mutation", "chaos"} <= set(links.all_inner_texts())
        page.locator("#analyses .run", has_text="mutations").get_by_role("link", name="show").click()
        page.locator("#analysis-view h3", has_text="noise: ").wait_for()
    others = [one for one in page.deeds.messages if "ERR_CONNECTION_REFUSED" not in one]
    assert others == [], "besides the end of the workbench with its run"
