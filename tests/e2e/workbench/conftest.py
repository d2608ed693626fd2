"""A real Chromium, driven by Playwright; the system's own, nothing is downloaded."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from typing import Any

import pytest

playwright = pytest.importorskip("playwright.sync_api", reason="no Playwright here")
PROGRAM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
SWITCHES = ["--no-sandbox", "--host-resolver-rules=MAP evil.test 127.0.0.1"]
"""The second makes a name lead to this machine, as a rebound one does."""
WIDTHS = (1440, 768, 390)


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
def page(chromium: Any) -> Iterator[Any]:
    context = chromium.new_context(viewport={"width": 1440, "height": 900})
    made = context.new_page()
    made.deeds = Deeds(made)
    yield made
    context.close()
