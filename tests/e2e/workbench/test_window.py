"""The page holds a window of a long tape: what comes into sight is asked for, and what was seen is let go."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from tests.e2e.workbench.serving import serving
from tests.unit.workbench.conftest import CUT, asked, deck_at

from faultwire.workbench import paged

ROWS = 3_000


@pytest.fixture(scope="module")
def long(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A tape whose rows stand in no window at once; the third call is a retry, and one has a fault."""
    deck = deck_at(tmp_path_factory.mktemp("long") / "t.tape")
    deck.exchange(asked("first"), status=503, key="k1")
    deck.exchange(asked("between"), faults=(CUT,))
    deck.exchange(asked("first"), attempt=1, key="k1")
    deck.many(ROWS - 3)
    return deck.close()


@pytest.fixture
def open_page(page: Any, long: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.setattr(paged, "KEPT", 500)
    with serving(long) as bench:
        page.goto(bench.link)
        page.wait_for_selector("body[data-ready]")
        page.bench = bench
        yield page


def test_sums_are_of_all_and_rows_of_what_is_in_sight(open_page: Any) -> None:
    open_page.locator("#totals dd", has_text=f"{ROWS:,}").wait_for()
    open_page.locator("#totals", has_text=f"{7 * ROWS:,} in").wait_for()
    assert open_page.locator(f"#list[aria-rowcount='{ROWS}']").count() == 1, "a retry stands under its call"
    assert open_page.bench.subject.index.rows.kept <= 500
    assert open_page.locator(".space .line").count() < 80


def test_what_is_far_up_comes_when_it_is_scrolled_to(open_page: Any) -> None:
    asked_for = lambda: [url for url in open_page.deeds.requests if "/api/rows?" in url]  # noqa: E731
    open_page.keyboard.press("g")
    open_page.locator(".line.selected .c-no", has_text="1").wait_for()
    open_page.locator(".line .toggle", has_text="2×").wait_for()
    open_page.keyboard.press("x")
    assert open_page.locator(".line.retry .c-no").inner_text() == "3"
    open_page.locator(".line .chip.fault").wait_for()
    assert asked_for()
    for at in range(0, 34 * ROWS, 34 * 500):
        open_page.evaluate(f"document.getElementById('list').scrollTop = {at}")
        open_page.locator(".space .line .chip").first.wait_for()
        open_page.wait_for_function(
            "() => [...document.querySelectorAll('.space .line .c-what')].every(one => one.innerText !== '…')"
        )
    assert all(len(url.split("=")[1].split(",")) <= 200 for url in asked_for())
    open_page.keyboard.press("G")
    open_page.locator(".line.selected .c-no", has_text=str(ROWS)).wait_for()
    open_page.keyboard.press("Enter")
    open_page.locator("#view [data-part=conversation]", has_text=f"number {ROWS - 4}").wait_for()
    assert open_page.deeds.messages == []


def test_a_filter_finds_what_is_in_no_window(open_page: Any) -> None:
    open_page.locator("#on").fill("status: 503")
    open_page.locator("#totals small", has_text="1 match").wait_for(timeout=60_000)
    open_page.locator(".space .line .c-no", has_text="1").wait_for()
    assert open_page.locator(".space .line").count() == 1


def test_rows_that_are_refused_leave_the_page_alive(open_page: Any) -> None:
    open_page.route("**/api/rows*", lambda route: route.abort())
    open_page.evaluate("document.getElementById('list').scrollTop = 34 * 1000")
    open_page.locator(".line .c-what", has_text="…").first.wait_for()
    open_page.unroute("**/api/rows*")
    open_page.evaluate("document.getElementById('list').scrollTop = 34 * 1010")
    open_page.locator(".line .c-no", has_text="1015").wait_for()
