"""`faultwire tape report` from the command line, and its page in a real browser."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from tests.e2e.workbench.conftest import WIDTHS
from tests.unit.report.hostile import EVERY, INVALID
from tests.unit.workbench.conftest import answered, asked, deck_at


def written(folder: Path) -> Path:
    command = [sys.executable, "-m", "faultwire", "tape", "report", "./t.tape", "-o", "x.html"]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=120)
    assert (done.returncode, done.stdout) == (0, "x.html\n"), done.stderr
    return folder / "x.html"


@pytest.fixture
def hostile(tmp_path: Path) -> Path:
    deck = deck_at(tmp_path / "t.tape")
    for text in EVERY:
        deck.exchange(asked(text), answered(text))
    deck.exchange(asked("bytes"), INVALID)
    deck.cut()
    deck.close()
    return written(tmp_path)


def test_a_hostile_tape_runs_and_loads_nothing(page: Any, hostile: Path) -> None:
    page.goto(hostile.as_uri())
    page.evaluate("document.querySelectorAll('details').forEach(one => one.open = true)")
    assert page.deeds.requests == [hostile.as_uri()]
    assert page.deeds.messages == []
    assert page.locator("script, img, iframe, link, base, object").count() == 0
    assert page.locator("details.ex").count() == len(EVERY) + 2


def test_control_the_same_page_with_a_script_would_be_seen(page: Any, hostile: Path) -> None:
    text = hostile.read_text().replace("default-src 'none'; ", "")
    hostile.write_text(text.replace("</main>", "<script>console.log('ran')</script></main>"))
    page.goto(hostile.as_uri())
    assert page.deeds.messages == ["ran"]


@pytest.mark.parametrize("width", WIDTHS)
def test_nothing_is_wider_than_the_window(page: Any, hostile: Path, width: int) -> None:
    page.set_viewport_size({"width": width, "height": 900})
    page.goto(hostile.as_uri())
    page.evaluate("document.querySelectorAll('details').forEach(one => one.open = true)")
    assert page.evaluate("document.documentElement.scrollWidth") <= width
