"""How fast the workbench is: `python -m tests.bench.workbench`.

Prints the size of its files, the time from the opening of the link to the first rows and to all rows of a
large tape, and how long after the agent got its answer a live page shows it.
"""

from __future__ import annotations

import gzip
import re
import subprocess
import sys
import tempfile
import textwrap
from pathlib import Path
from typing import Any

from playwright.sync_api import sync_playwright
from tests.e2e.workbench.conftest import PROGRAM
from tests.e2e.workbench.serving import serving
from tests.unit.workbench.conftest import deck_at

from faultwire.workbench.assets import assets

ROWS = (1_000, 5_000, 10_000)
CALLS = 200
SEEN = """window.seen = {};
new MutationObserver(() => {
  const now = performance.timeOrigin + performance.now();
  for (const line of document.querySelectorAll('.space .line')) {
    const number = line.querySelector('.c-no').textContent;
    if (line.querySelector('.c-outcome').textContent !== 'waiting' && !(number in seen)) seen[number] = now;
  }
}).observe(document, {childList: true, subtree: true});
document.addEventListener('DOMContentLoaded', () => new MutationObserver(() => {
  if (!window.first && document.querySelector('.space .line')) requestAnimationFrame(() => {
    window.first = window.first || performance.now();
  });
}).observe(document.body, {childList: true, subtree: true}));"""
AGENT = """
    import json, time, urllib.request
    for number in range(CALLS):
        turns = [{"role": "user", "content": f"number {number}"}]
        asked = urllib.request.Request("https://api.openai.com/v1/chat/completions",
            json.dumps({"model": "gpt-4o-mini", "messages": turns}).encode(),
            {"content-type": "application/json", "authorization": "Bearer sk-of-a-bench"})
        urllib.request.urlopen(asked).read()
        print(time.time() * 1000, flush=True)
        time.sleep(0.1)
"""


def opening(browser: Any, rows: int, folder: Path) -> tuple[float, float, int]:
    """Milliseconds until the first rows are painted and until all are there; rows in the document."""
    deck = deck_at(folder / f"{rows}.tape")
    deck.many(rows)
    with serving(deck.close()) as bench:
        page = browser.new_page(viewport={"width": 1440, "height": 900})
        page.add_init_script(SEEN)
        page.goto(bench.link)
        page.wait_for_selector("body[data-ready]", timeout=120_000)
        page.locator(f"#list[aria-rowcount='{rows + 1}']").wait_for(timeout=120_000)
        found = page.evaluate("window.first"), float(page.get_attribute("body", "data-ready"))
        held = page.locator(".space .line").count()
        page.close()
    return *found, held


def latencies(browser: Any, folder: Path) -> list[float]:
    """Milliseconds from the agent's answer to its row in the page, sorted."""
    (folder / "agent.py").write_text(textwrap.dedent(AGENT).replace("CALLS", str(CALLS)))
    command = [sys.executable, "-m", "faultwire", "exec", "--mock", "--ui", "--", sys.executable, "agent.py"]
    pipes: dict[str, Any] = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    process = subprocess.Popen(command, cwd=folder, text=True, **pipes)
    assert process.stdout
    assert process.stderr
    link = next(filter(None, (re.search(r"http://\S+", line) for line in process.stderr)))[0]
    page = browser.new_page(viewport={"width": 1440, "height": 900})
    page.add_init_script(SEEN)
    page.goto(link)
    page.wait_for_selector("body[data-ready]")
    began = page.evaluate("performance.timeOrigin + performance.now()")
    answered = [float(process.stdout.readline()) for _ in range(CALLS - 1)]
    seen = page.evaluate("window.seen")
    process.communicate()
    page.close()
    pairs = ((at, seen.get(str(number))) for number, at in enumerate(answered, 1))
    return sorted(shown - at for at, shown in pairs if shown is not None and at > began)


def main() -> None:
    """Print the figures."""
    packed = sum(len(gzip.compress(one.body)) for one in assets().values())
    print(f"files of the page: {packed / 1000:.1f} kB packed")
    with sync_playwright() as started, tempfile.TemporaryDirectory() as place:
        browser = started.chromium.launch(executable_path=PROGRAM, args=["--no-sandbox"])
        for rows in ROWS:
            first, ready, held = opening(browser, rows, Path(place))
            print(f"{rows} rows: first painted at {first:.0f} ms, all there at {ready:.0f} ms, {held} held")
        found = latencies(browser, Path(place))
        half, most = found[len(found) // 2], found[int(len(found) * 0.95)]
        print(
            f"live: {len(found)} calls, median {half:.0f} ms, 95 % {most:.0f} ms, largest {found[-1]:.0f} ms"
        )
        browser.close()


if __name__ == "__main__":
    main()
