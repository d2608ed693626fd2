"""Traffic that is too much: an event of 100 MB, a million rows, and 10,000 of them scrolled. The page stays a
page, and it and its server stay small. Figures are printed; `docs/explanation/speed.md` has them."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from tests.e2e.workbench.test_after_page import started
from tests.unit.report.hostile import EVERY, INVALID
from tests.unit.workbench.conftest import SSE, Deck, answered, asked, deck_at

from faultwire.events import Response

FRAMES = """() => new Promise(done => {
  const list = document.getElementById('list'), frames = [], began = performance.now();
  const most = list.scrollHeight - list.clientHeight;
  const step = () => {
    const now = performance.now();
    frames.push(now);
    list.scrollTop = most * Math.min(1, (now - began) / 5000);
    if (now - began < 5000) requestAnimationFrame(step); else done(frames);
  };
  requestAnimationFrame(step);
})"""
"""Scroll over the whole list within five seconds; the instant of each frame, in ms."""
HEAP = "() => performance.memory.usedJSHeapSize / 1e6"
ROOM_MB, TIMES = 60, 8
"""Megabytes by which a server may grow for an event that is opened, and for each of its own: it is read
for both sides, and shown in part."""


class Opened(NamedTuple):
    """A page, and the process that serves it."""

    page: Any
    server: subprocess.Popen[str]

    def peak_mb(self) -> float:
        """The most memory that the server has held."""
        return self._status("VmHWM")

    def now_mb(self) -> float:
        return self._status("VmRSS")

    def _status(self, name: str) -> float:
        text = Path(f"/proc/{self.server.pid}/status").read_text()
        return int(next(line for line in text.splitlines() if line.startswith(name)).split()[1]) / 1024

    def cpu_s(self) -> float:
        parts = Path(f"/proc/{self.server.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(parts[11]) + int(parts[12])) / os.sysconf("SC_CLK_TCK")


Open = Callable[..., Opened]


@pytest.fixture
def opened(page: Any, tmp_path: Path) -> Iterator[Open]:
    """`faultwire ui TAPE` in its own process, and its page."""
    with ExitStack() as stack:

        def start(tape: Path, highest: int | None = None) -> Opened:
            if highest is not None:
                change = f"HIGHEST = {highest};"
                page.route("**/list.js", lambda route: _planted(route, "HIGHEST = 15_000_000;", change))
            server, link = stack.enter_context(started(tmp_path, "ui", str(tape)))
            page.goto(link)
            page.wait_for_selector("body[data-ready]", timeout=60_000)
            return Opened(page, server)

        yield start


def _planted(route: Any, old: str, new: str) -> None:
    answer = route.fetch()
    text = answer.text()
    assert old in text
    route.fulfill(response=answer, body=text.replace(old, new))


def record(name: str, **figures: float) -> None:
    """For whoever reads the output, and for the documentation."""
    print(name, json.dumps({key: round(value, 2) for key, value in figures.items()}), file=sys.stderr)


def inert(opened: Opened) -> None:
    """Nothing ran, nothing was asked for elsewhere, and the page's policy had nothing to stop."""
    deeds = opened.page.deeds
    assert deeds.messages == []
    assert {url.split("/")[2].rpartition(":")[0] for url in deeds.requests} == {"127.0.0.1"}
    assert opened.page.locator("script").count() == 1


def stream(deck: Deck, event: bytes) -> Path:
    """A stream with one event, in pieces as a network gives it, and a short exchange after it."""
    deck.count += 1
    recording = deck._begun(asked(stream=True), "s")
    recording.upstream_head(Response(200, "OK", SSE))
    for at in range(0, len(event), 1 << 20):
        recording.upstream_chunk(event[at : at + (1 << 20)])
    recording.end("complete", None, ())
    deck.exchange()
    return deck.close()


def hostile(size: int) -> bytes:
    """One event of so many bytes: markup, bidirectional and terminal controls, bytes that are no UTF-8."""
    text = "".join(one for one in EVERY if not any("\ud800" <= c <= "\udfff" for c in one))
    piece = json.dumps(text)[1:-1].encode() + text.replace("\n", " ").replace("\r", " ").encode() + INVALID
    return b"data: " + piece * (size // len(piece) + 1) + b"\n\n"


@pytest.mark.by_day("2-MB")
@pytest.mark.parametrize("megabytes", [pytest.param(2, id="2-MB"), pytest.param(100, id="100-MB")])
def test_a_hostile_event_of_any_size_is_shown_in_part_and_inert(
    opened: Open, tmp_path: Path, megabytes: int
) -> None:
    tape = stream(deck_at(tmp_path / "t.tape"), hostile(megabytes * 1_000_000))
    found = opened(tape)
    page = found.page
    before, began = found.peak_mb(), time.monotonic()
    page.locator("#list[aria-rowcount='3']").wait_for()
    page.keyboard.press("g")
    page.keyboard.press("Enter")
    page.locator("#tabs [role=tab]").first.wait_for(timeout=120_000)
    for key, part in (("2", "events"), ("3", "wire"), ("4", "ledger"), ("1", "conversation")):
        page.keyboard.press(key)
        page.locator(f"#view [data-part={part}]:not([hidden])").wait_for()
    took = time.monotonic() - began
    shown = page.evaluate("document.body.textContent.length")
    record(
        f"event of {megabytes} MB",
        seconds=took, server_mb=found.peak_mb(), more_mb=found.peak_mb() - before,
        page_mb=page.evaluate(HEAP), characters=shown,
    )  # fmt: skip
    assert shown < 2_000_000
    assert took < 60
    assert page.evaluate(HEAP) < 100
    assert found.peak_mb() - before < ROOM_MB + TIMES * megabytes
    page.keyboard.press("Escape")
    page.keyboard.press("j")
    page.keyboard.press("Enter")
    page.locator("#view [data-part=conversation]", has_text="391").wait_for()
    inert(found)


ROWS = int(os.environ.get("FAULTWIRE_ROWS", "1000000"))
KEPT_BYTES = 250
"""Of each exchange, at most: some 50 of the index, those of the page's list, and room for growth."""


@pytest.mark.by_day("20000")
@pytest.mark.parametrize("rows", [20_000, ROWS], ids=str)
@pytest.mark.timeout(7_200)
def test_rows_without_end_are_a_list_that_answers(opened: Open, tmp_path: Path, rows: int) -> None:
    deck = deck_at(tmp_path / "t.tape")
    for number in range(rows):
        text = EVERY[number % len(EVERY)] if number % 1000 == 0 else f"number {number}"
        deck.exchange(asked(text), answered(text), flush=number % 5000 == 4999)
    tape = deck.close()
    began = time.monotonic()
    found = opened(tape)
    page, first = found.page, time.monotonic() - began
    start_mb = found.now_mb()
    page.locator(f"#list[aria-rowcount='{rows + 1}']").wait_for(timeout=7_000_000)
    page.locator("#totals small", has_text="not read yet").wait_for(state="detached", timeout=7_000_000)
    read, cpu = time.monotonic() - began, found.cpu_s()
    page.keyboard.press("G")
    page.locator(".line.selected .c-no", has_text=str(rows)).wait_for()
    began = time.monotonic()
    page.keyboard.press("g")
    page.locator(".space .line .chip").first.wait_for()
    page.locator(".line.selected .c-no", has_text="1").wait_for()
    jump = time.monotonic() - began
    began = time.monotonic()
    page.evaluate(
        "document.getElementById('list').scrollTop = document.getElementById('list').scrollHeight / 2"
    )
    page.wait_for_function(
        "() => { const all = [...document.querySelectorAll('.space .line .c-what')];"
        " return all.length && all.every(one => one.innerText !== '…'); }"
    )
    middle = time.monotonic() - began
    record(
        f"{rows} rows",
        first_s=first, read_s=read, cpu_s=cpu, jump_s=jump, middle_s=middle, server_mb=found.peak_mb(),
        at_start_mb=start_mb, page_mb=page.evaluate(HEAP), lines=page.locator(".space .line").count(),
    )  # fmt: skip
    assert first < 30
    assert max(jump, middle) < 10
    assert page.locator(".space .line").count() < 80
    assert page.evaluate(HEAP) < 60 + rows * KEPT_BYTES / 1e6
    assert found.peak_mb() < 250 + rows * KEPT_BYTES / 1e6
    inert(found)


def test_ten_thousand_rows_scroll_smoothly(opened: Open, tmp_path: Path) -> None:
    deck = deck_at(tmp_path / "t.tape")
    deck.many(10_000)
    found = opened(deck.close())
    page = found.page
    page.locator("#list[aria-rowcount='10001']").wait_for(timeout=60_000)
    page.locator("#follow").uncheck()
    page.evaluate("document.getElementById('list').scrollTop = 0")
    frames = page.evaluate(FRAMES)
    waits = sorted(later - earlier for earlier, later in pairwise(frames))
    rate, worst = 1000 * len(waits) / (frames[-1] - frames[0]), waits[-1]
    record(
        "10000 rows scrolled in 5 s", frames_per_s=rate, median_ms=waits[len(waits) // 2],
        of_95_percent_ms=waits[int(len(waits) * 0.95)], longest_ms=worst,
    )  # fmt: skip
    assert rate >= 30
    assert page.evaluate("document.getElementById('list').scrollTop") > 34 * 9_000
    assert page.locator(".space .line .c-no", has_text="10000").wait_for() is None


PLACED = """() => {
  const at = (found) => document.querySelector(found).getBoundingClientRect();
  const line = at('.line.selected');
  return {head: at('#list .heads').bottom, top: line.top, bottom: line.bottom, end: at('#list').bottom};
}"""


def test_a_list_that_is_higher_than_an_element_can_be_is_reached_to_its_last_row(
    opened: Open, tmp_path: Path
) -> None:
    """Planted in the page: only so many pixels, as there are for a million rows."""
    deck = deck_at(tmp_path / "t.tape")
    deck.many(2_000)
    found = opened(deck.close(), highest=9_000)
    page = found.page
    page.locator("#list[aria-rowcount='2001']").wait_for(timeout=60_000)
    page.locator("#follow").uncheck()
    page.locator("#list").focus()
    assert page.evaluate("document.querySelector('.space').offsetHeight") == 9_000
    back = [("k", number) for number in range(1999, 1939, -1)]
    on = [("j", number) for number in range(2, 62)]
    for key, number in (("G", 2000), ("g", 1), *on, ("G", 2000), *back):
        page.keyboard.press(key)
        line = page.locator(".line.selected", has=page.locator(".c-no", has_text=re.compile(f"^{number}$")))
        line.wait_for()
        seen_at = page.evaluate(PLACED)
        assert seen_at["head"] <= seen_at["top"] + 1, (key, number)
        assert seen_at["bottom"] <= seen_at["end"] + 1, (key, number)
    seen: set[int] = set()
    for at in range(0, 9_001, 50):
        page.evaluate(f"document.getElementById('list').scrollTop = {at}")
        page.wait_for_function("new Promise(done => requestAnimationFrame(() => done(true)))")
        seen |= {int(one) for one in page.evaluate(
            "[...document.querySelectorAll('.space .line')].map(one => one.dataset.index)"
        )}  # fmt: skip
    assert seen == set(range(2_000)), "every row comes by"
    inert(found)


def test_control_a_list_that_draws_every_row_does_not_scroll_smoothly(opened: Open, tmp_path: Path) -> None:
    """As many lines as rows, laid out anew for each frame: what the list is spared."""
    deck = deck_at(tmp_path / "t.tape")
    deck.many(200)
    page = opened(deck.close()).page
    page.locator("#list[aria-rowcount='201']").wait_for(timeout=60_000)
    page.locator("#follow").uncheck()
    page.evaluate(
        """() => {
      const list = document.getElementById('list'), one = document.querySelector('.space .line');
      const all = Array.from({length: 10000}, () => one.cloneNode(true));
      document.querySelector('.space').append(...all);
      list.addEventListener('scroll', () => {
        for (const line of all) line.style.top = `${Math.random()}px`;
        void list.scrollHeight;
      });
    }"""
    )
    frames = page.evaluate(FRAMES)
    assert len(frames) / 5 < 30
