"""`python -m tests.bench.reports [--json FILE]`: what a report of 5,000 cells costs.

Making is CPU time (the machine is shared) of judging's result becoming a document and the document a page;
opening is wall time in a headless Chromium, from the navigation until the page is loaded and drawn.
"""

from __future__ import annotations

import argparse
import gc
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from tests.bench import big, table
from tests.bench.rounds import Row
from tests.e2e.report.tab import Tab
from tests.e2e.tape.chromium import PROGRAM, browser

from faultwire.contract.matrix import judge
from faultwire.report import html, json, junit, markdown
from faultwire.report.document import Subject, document

CELLS = "report of 5,000 cells"
ROUNDS = 5
SUBJECT = Subject(
    "id", "contract", "agent", 42, 8, "2026-11-22T00:00:00+00:00", 9.5, "ab" * 32, ("run.tape",)
)


def run(rounds: int = ROUNDS) -> list[Row]:
    """Make every face, weigh the page, and open it."""
    scenarios, prompts, played = big.run()
    matrix = judge(big.CHECKS, played)
    rows = {
        name: Row("reports", f"{CELLS}: {title}", "faultwire", unit, target=target, more_is_better=False)
        for name, title, unit, target in (
            ("made", "document and page", "s CPU", 3.0),
            ("json", "report.json", "s CPU", None),
            ("junit", "junit.xml", "s CPU", None),
            ("md", "report.md", "s CPU", None),
            ("size", "the page", "MB", 10.0),
            ("open", "opened in Chromium", "s", 2.0),
        )
    }
    page = ""
    for _ in range(rounds):
        gc.collect()
        begin = time.process_time()
        made = document(
            SUBJECT, scenarios, prompts, big.CHECKS, matrix, played, redact=lambda text: text, repeat=10
        )
        page = html.render(made)
        rows["made"].rounds.append(time.process_time() - begin)
        for name, face in (("json", json.render), ("junit", junit.render), ("md", markdown.render)):
            rows[name].rounds.append(_cpu_s(lambda face=face, made=made: face(made)))  # type: ignore[misc]
    rows["size"].rounds.append(len(page.encode()) / 1e6)
    if PROGRAM is None:
        rows["open"].note = "not measured: there is no Chromium here"
    else:
        rows["open"].rounds = [ms / 1000 for ms in opened(page, rounds)]
    return list(rows.values())


def opened(page: str, rounds: int) -> list[float]:
    """Milliseconds until the page is loaded and drawn, each time anew."""
    with tempfile.TemporaryDirectory(prefix="faultwire-bench-") as folder:
        file = Path(folder) / "report.html"
        file.write_text(page, encoding="utf-8")
        with browser(Path(folder) / "profile") as connection:
            tab = Tab(connection)
            tab.size(1280, 900)
            return [tab.open(file.as_uri()) for _ in range(rounds)]


def _cpu_s(work: Callable[[], object]) -> float:
    begin = time.process_time()
    work()
    return time.process_time() - begin


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.bench.reports", description=__doc__)
    parser.add_argument("--json", type=Path, metavar="FILE", help="write all values there")
    given = parser.parse_args()
    rows = run()
    print(table.text(rows))
    if given.json:
        table.write(given.json, rows, {})
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
