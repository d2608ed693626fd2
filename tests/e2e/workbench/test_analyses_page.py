"""Results of searches on the page: written by the real commands, looked at in a real browser."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from tests.e2e.play.conftest import Project, project as project
from tests.e2e.workbench.accessibility import findings
from tests.e2e.workbench.conftest import WIDTHS
from tests.e2e.workbench.test_after_page import COMMAND, started
from tests.unit.report.hostile import EVERY
from tests.unit.workbench.test_explored_view import DOCUMENT

SINGLE = """import json, sys, urllib.request as u
prompt = sys.argv[1]
headers = {"content-type": "application/json", "authorization": "Bearer sk-none"}
body = json.dumps({"model": "m", "messages": [{"role": "user", "content": prompt}]}).encode()
u.urlopen(u.Request("https://api.openai.com/v1/chat/completions", body, headers)).read()
print("?" if "!!!" in prompt or prompt.isupper() else "391")
"""
FALLBACK = """import sys, json, urllib.request as u, urllib.error
def ask(host):
    body = json.dumps({"model": "gpt-4o-mini", "messages": [{"role": "user", "content": "Rivers?"}]}).encode()
    head = {"content-type": "application/json", "authorization": "Bearer sk-none"}
    try:
        return u.urlopen(u.Request(f"https://{host}/v1/chat/completions", body, head)).read()
    except urllib.error.HTTPError:
        return None
sys.exit(0 if ask("api.openai.com") or ask("api.mistral.ai") else 3)
"""
STATUS = ("--fault", "status: {code: 500}")


def ran(folder: Path, *words: str, code: int) -> str:
    done = subprocess.run(
        [*COMMAND, *words], cwd=folder, capture_output=True, text=True, timeout=280, stdin=subprocess.DEVNULL
    )
    assert done.returncode == code, done.stderr
    return done.stdout


def in_a_shell(folder: Path, command: str) -> int:
    """The exit code of a command as somebody pastes it, where `faultwire` is installed."""
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    done = subprocess.run(command, shell=True, cwd=folder, env={**os.environ, "PATH": path}, timeout=200)
    return done.returncode


@contextmanager
def shown(page: Any, folder: Path, kind: str) -> Iterator[Any]:
    """The page of the only result of a kind, opened from the list of runs."""
    with started(folder, "ui", "last") as (_, link):
        page.goto(link)
        page.wait_for_selector("body[data-ready]")
        page.keyboard.press("r")
        page.locator("#analyses .run", has_text=kind).get_by_role("link", name="show").click()
        page.locator("#analysis-view .card").first.wait_for()
        yield page.locator("#analysis-view")
        assert page.deeds.messages == []
        assert {url.split("/")[2] for url in page.deeds.requests} == {link.split("/")[2]}


def looked_at(page: Any) -> None:
    """No finding at any width, in light and dark, and nothing wider than the window."""
    for width in WIDTHS:
        page.set_viewport_size({"width": width, "height": 900})
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        for scheme in ("light", "dark"):
            page.emulate_media(color_scheme=scheme)
            assert findings(page) == [], (width, scheme)
    page.set_viewport_size({"width": 1440, "height": 900})


def test_a_mutant_of_a_search_is_shown_with_its_lineage_and_its_exchange(page: Any, tmp_path: Path) -> None:
    (tmp_path / "agent.py").write_text(SINGLE)
    asked = ("--prompt", "What is 17 times 23?", "--expect", 'contains: "391"', "--type", "tone_shift")
    printed = ran(
        tmp_path, "evolve", "-q", "--mock", *asked, "--budget", "30", "--finds", "1", "--", sys.executable,
        "agent.py", "{prompt}", code=1,
    )  # fmt: skip
    ident = re.search(r"^([0-9a-f]{12})  ", printed, re.M)
    assert ident
    with shown(page, tmp_path, "evolve") as view:
        text = view.inner_text()
        assert printed.splitlines()[0] in text, "the sentence of the command"
        assert ident[1] in text
        assert view.locator("ol.steps li").count() >= 1
        assert "- What is 17 times 23?" in view.locator(".diff").first.inner_text()
        assert "the same text" in text
        assert "do not give this text" not in text
        looked_at(page)
        view.get_by_text("What was exchanged").first.click()
        view.locator(".viewer .viewer summary").first.click()
        view.locator("[data-part=conversation]").first.wait_for()
        assert findings(page) == []
        view.get_by_role("button", name="Open in the list").first.click()
        page.locator("#detail:not([hidden]) #title").wait_for()
        assert page.locator("#analysis").is_hidden()
        page.go_back()
        page.locator("#analysis-view .card").first.wait_for()
        page.keyboard.press("Escape")
        page.locator("#list").wait_for()


def test_a_text_that_was_changed_in_the_file_is_not_called_made_again(page: Any, tmp_path: Path) -> None:
    (tmp_path / "agent.py").write_text(SINGLE)
    asked = ("--prompt", "What is 17 times 23?", "--expect", 'contains: "391"', "--type", "tone_shift")
    ran(
        tmp_path, "evolve", "-q", "--mock", *asked, "--budget", "30", "--finds", "1", "--", sys.executable,
        "agent.py", "{prompt}", code=1,
    )  # fmt: skip
    (path,) = tmp_path.glob(".faultwire/runs/*/evolution.json")
    found = json.loads(path.read_text())
    found["failures"][0]["text"] = EVERY[0]
    path.write_text(json.dumps(found))
    with shown(page, tmp_path, "evolve") as view:
        assert "do not give this text" in view.inner_text()
        assert "the same text" not in view.inner_text()


def test_mutants_of_a_run_lead_to_their_cells_in_the_report(page: Any, project: Project) -> None:
    project.write(
        golden_prompts=["What is the capital of France?"],
        mutations={"types": ["noise"], "count": 1},
        invariants=[{"type": "contains", "value": "no such word"}],
    )
    assert project.run("run", "--quiet").returncode == 1
    with shown(page, project.folder, "mutations") as view:
        text = view.inner_text()
        assert "noise: 0 of 1 passed" in text
        assert "- What is the capital of France?" in text
        looked_at(page)
        with page.context.expect_page() as opened:
            view.get_by_role("link", name="evidence").first.click()
        opened.value.wait_for_load_state()
        anchor = opened.value.url.split("#")[1]
        assert opened.value.locator(f"#{anchor}").count() == 1


@pytest.mark.nightly
def test_failures_of_an_exploration_and_the_claim_in_the_words_of_the_command(
    page: Any, tmp_path: Path
) -> None:
    (tmp_path / "agent.py").write_text(FALLBACK)
    ran(tmp_path, "exec", "-q", "--mock", "--", sys.executable, "agent.py", code=0)
    printed = ran(tmp_path, "explore", "-q", "--mock", *STATUS, "--", sys.executable, "agent.py", code=1)
    claim = next(line for line in printed.splitlines() if line.startswith("no other failure"))
    cause = next(line for line in printed.splitlines() if line.startswith("failure 1: "))
    with shown(page, tmp_path, "explore") as view:
        text = view.inner_text()
        assert claim in text
        assert cause.removeprefix("failure 1: ") in text
        assert "failed 1 of 1 run: the agent exited with 3" in text
        assert "it failed there" in text
        looked_at(page)
        view.get_by_text("What was exchanged").first.click()
        view.locator(".viewer .viewer summary").nth(1).wait_for()
        assert view.locator(".viewer .viewer").count() == 2
        command = view.locator("pre", has_text="run.sh").inner_text()
    assert in_a_shell(tmp_path, command) == 1


@pytest.mark.nightly
def test_a_shrunk_failure_is_shown_and_its_command_shows_it_again(page: Any, tmp_path: Path) -> None:
    (tmp_path / "agent.py").write_text(FALLBACK)
    faults = (*STATUS, "--fault", "latency: {ms: 5}")
    ran(tmp_path, "exec", "-q", "--mock", *faults, "--", sys.executable, "agent.py", code=3)
    printed = ran(
        tmp_path, "shrink", "last", "-q", "--mock", *faults, "--", sys.executable, "agent.py", code=0
    )
    decisions = re.findall(r"^  (\w+ on its call \d+)(?: \(#\d+\))?( {.*})?$", printed, re.M)
    assert len(decisions) == 2
    with shown(page, tmp_path, "shrink") as view:
        text = view.inner_text()
        assert "these 2 decisions" in text
        for decision, settings in decisions:
            assert f"{decision}{settings}" in text
        assert "latency" not in text
        looked_at(page)
        view.get_by_text("What was exchanged").first.click()
        view.locator(".viewer .viewer summary").first.click()
        view.locator("[data-part=conversation]").first.wait_for()
        command = view.locator("pre", has_text="run.sh").inner_text()
    assert in_a_shell(tmp_path, command) == 1


def test_hostile_values_stay_text(page: Any, tmp_path: Path) -> None:
    """The same shapes as the commands write, with what an enemy would put into them."""
    (tmp_path / "agent.py").write_text(FALLBACK)
    ran(tmp_path, "exec", "-q", "--mock", "--", sys.executable, "agent.py", code=0)
    folder = tmp_path / ".faultwire" / "explore"
    folder.mkdir()
    text = " ".join(EVERY)
    (finding,) = DOCUMENT["failures"]
    fault = {"entry": text, "place": text, "call": 1}
    excluded = [{"faults": [one], "reason": "open"} for one in EVERY]
    hostile = {
        **DOCUMENT, "failing": text, "flaky": [[one] for one in EVERY],
        "failures": [{**finding, "cause": [text], "reason": text, "faults": [fault]}],
        "claim": {**DOCUMENT["claim"], "why_not": text, "excluded": excluded},
    }  # fmt: skip
    (folder / "0a1b.json").write_text(json.dumps(hostile))
    with shown(page, tmp_path, "explore") as view:
        assert view.locator("img, script, iframe, object, base, svg").count() == 0
        assert page.locator("script").count() == 1
        looked_at(page)


def test_a_file_that_is_none_is_refused_in_words(page: Any, tmp_path: Path) -> None:
    (tmp_path / "agent.py").write_text(FALLBACK)
    ran(tmp_path, "exec", "-q", "--mock", "--", sys.executable, "agent.py", code=0)
    folder = tmp_path / ".faultwire" / "explore"
    folder.mkdir()
    (folder / "0a1b.json").write_text("{}")
    with started(tmp_path, "ui", "last") as (_, link):
        page.goto(link)
        page.wait_for_selector("body[data-ready]")
        page.evaluate("location.hash = '#/explore/0a1b'")
        page.locator("#analysis-view .banner", has_text="expected what `faultwire explore` writes").wait_for()
        page.evaluate("location.hash = '#/explore/ffff'")
        page.locator("#analysis-view .banner", has_text="found no such result").wait_for()
