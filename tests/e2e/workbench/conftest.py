"""A real Chromium, driven by Playwright; the system's own, nothing is downloaded."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

playwright = pytest.importorskip("playwright.sync_api", reason="no Playwright here")
PROGRAM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
SWITCHES = ["--no-sandbox", "--host-resolver-rules=MAP evil.test 127.0.0.1"]
"""The second makes a name lead to this machine, as a rebound one does."""
WIDTHS = (1440, 768, 390)
SHOWN = """window.shown = new Set();
new MutationObserver((changes) => {
  for (const { target, addedNodes } of changes) for (const one of [target, ...addedNodes]) {
    const text = one.textContent;
    if (text && text.length < 2000) window.shown.add(text);
  }
}).observe(document, {childList: true, subtree: true, characterData: true});"""
"""Keeps every text that was ever shown; `FAULTWIRE_SHOWN=FILE` has them written down by test, and
`python tests/meta/page_sentences.py FILE` writes the rows of the page's sentences."""


@pytest.fixture(scope="session")
def driver() -> Iterator[Any]:
    """Playwright, of which one process takes one."""
    if PROGRAM is None:
        pytest.skip("no Chromium here")
    with playwright.sync_playwright() as started:
        yield started


@pytest.fixture(scope="session")
def chromium(driver: Any) -> Iterator[Any]:
    browser = driver.chromium.launch(executable_path=PROGRAM, args=SWITCHES)
    yield browser
    browser.close()


class Deeds:
    """What a page does besides being read: what it asks for, what it says, and what its policy stopped."""

    def __init__(self, page: Any) -> None:
        self.requests: list[str] = []
        self.messages: list[str] = []
        page.on("request", lambda one: self.requests.append(one.url))
        page.on("console", lambda one: self.messages.append(one.text))
        page.on("pageerror", lambda one: self.messages.append(str(one)))
        page.on("dialog", lambda one: (self.messages.append(one.message), one.dismiss()))


@pytest.fixture
def page(chromium: Any, request: pytest.FixtureRequest) -> Iterator[Any]:
    context = chromium.new_context(viewport={"width": 1440, "height": 900})
    kept = os.environ.get("FAULTWIRE_SHOWN")
    if kept is not None:
        context.add_init_script(SHOWN)
    made = context.new_page()
    made.deeds = Deeds(made)
    yield made
    if kept is not None:
        with Path(kept).open("a") as file:
            told = [page.evaluate("[...(window.shown || [])]") for page in context.pages]
            name = request.node.nodeid.partition("[")[0]
            file.write(json.dumps({"test": name, "texts": [text for one in told for text in one]}) + "\n")
    context.close()
