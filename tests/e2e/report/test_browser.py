"""The pages in a real browser: nothing runs, nothing loads, and a large run opens."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.bench import big
from tests.e2e.report.tab import Tab
from tests.e2e.tape.chromium import PROGRAM, browser
from tests.unit.report import conftest as small
from tests.unit.report.hostile import EVERY, SCRIPTS, everywhere

from faultwire.contract.matrix import judge
from faultwire.report.document import Subject, document
from faultwire.report.html import render
from faultwire.report.schema import problems
from faultwire.report.summary import Phase, render as render_summary, summary_document

pytestmark = pytest.mark.skipif(PROGRAM is None, reason="no Chromium here")
SUBJECT = Subject(
    "id", "contract", "agent", 42, 8, "2026-11-22T00:00:00+00:00", 9.5, "ab" * 32, ("run.tape",)
)
WIDTHS = (1280, 390)


@pytest.fixture(scope="module")
def tab(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Tab]:
    with browser(tmp_path_factory.mktemp("profile")) as connection:
        yield Tab(connection)


@pytest.fixture
def opened(tab: Tab, tmp_path: Path) -> Any:
    """Write a page, open it, and give the tab back."""

    def write(page: str) -> Tab:
        (tmp_path / "page.html").write_text(page, encoding="utf-8", errors="strict")
        tab.open((tmp_path / "page.html").as_uri())
        return tab

    return write


def hostile(text: str) -> str:
    before = small.play()
    trend = [{"id": text, "started_at": text, "score": 5.0}]
    return render(everywhere(small.play(before=before, trend=trend), text))


def test_the_tab_notices_what_a_bad_page_does(opened: Any) -> None:
    """The control: each of these would be seen."""
    seen = opened(
        "<script>alert(1);console.log('ran');window.owned=1</script><img src='http://127.0.0.1:9/x.png'>"
    )
    assert {method for method, _ in seen.deeds} >= {
        "Page.javascriptDialogOpening",
        "Runtime.consoleAPICalled",
        "Network.requestWillBeSent",
    }
    assert seen.ask("window.owned") == 1


def test_the_policy_alone_would_stop_a_script(opened: Any) -> None:
    """The second wall: what if something got past the first one?"""
    page = render(small.play()).replace(
        "</main>", "<script>window.owned=1</script><img src='http://127.0.0.1:9/x.png'></main>"
    )
    seen = opened(page)
    assert seen.ask("typeof window.owned") == "undefined"
    assert [deed for deed in seen.deeds if deed[0] == "Page.javascriptDialogOpening"] == []
    assert seen.ask("[...document.images].every(image => image.naturalWidth === 0)") is True


@pytest.mark.parametrize("text", [*SCRIPTS, "\n".join(EVERY)], ids=lambda text: ascii(text[:20]))
def test_hostile_output_runs_and_loads_nothing(opened: Any, text: str) -> None:
    seen = opened(hostile(text))
    assert seen.deeds == []
    assert seen.ask("document.querySelectorAll('script,img,iframe,base,link,object').length") == 0
    assert seen.ask("typeof window.owned") == "undefined"
    assert seen.ask("document.querySelectorAll('details').forEach(d => d.open = true)") is None
    assert seen.ask("[...document.querySelectorAll('main *')].filter(e => e.innerText).length") > 100
    assert seen.deeds == []


def test_the_summary_is_as_inert(opened: Any) -> None:
    text = "\n".join(EVERY)
    phases = (
        Phase("chaos", 0.5, 1.0, "fail", {"fail": 1}, "chaos/report.html", ""),
        Phase("replay", why=text),
    )
    seen = opened(render_summary(summary_document(SUBJECT, phases, overall=0.5, gate="fail")))
    assert seen.deeds == []
    assert seen.ask("document.querySelector('a[href]').getAttribute('href')") == "./chaos/report.html"


@pytest.mark.parametrize("width", WIDTHS)
def test_nothing_is_wider_than_the_window(opened: Any, width: int) -> None:
    seen = opened(render(small.play(before=small.play(), trend=[{"id": "a", "score": 1.0}])))
    seen.size(width, 900)
    seen.ask("document.querySelectorAll('details').forEach(d => d.open = true)")
    assert seen.ask("document.documentElement.scrollWidth") <= width


@pytest.fixture(scope="module")
def large() -> str:
    scenarios, prompts, played = big.run()
    matrix = judge(big.CHECKS, played)
    assert len(matrix.cells) == 5_000
    made = document(SUBJECT, scenarios, prompts, big.CHECKS, matrix, played, redact=lambda text: text)
    assert problems(made) == []
    return render(made)


@pytest.mark.nightly
def test_five_thousand_cells_open_and_can_be_picked(opened: Any, large: str) -> None:
    assert len(large.encode()) < 10_000_000
    seen = opened(large)
    shown = (
        "[...document.querySelectorAll('.inv')].filter(e => getComputedStyle(e).display !== 'none').length"
    )
    assert seen.ask(shown) == 1_000
    seen.ask("document.getElementById('v-fail').click()")
    assert seen.ask(shown) == 300
    seen.ask("document.getElementById('s-1').click()")
    assert seen.ask(shown) == 100
    seen.ask("document.getElementById('v-all').click()")
    assert seen.ask(shown) == 250
    assert seen.deeds == []


def test_a_mark_leads_to_its_invocation_and_opens_it(opened: Any, large: str) -> None:
    seen = opened(large)
    link = "document.querySelector('.matrix a.chip.fail')"
    assert seen.ask(f"{link}.click(); document.querySelector({link}.getAttribute('href')) !== null") is True
    reached = f"document.querySelector({link}.getAttribute('href')).closest('details')"
    assert seen.ask(f"new Promise(r => requestAnimationFrame(() => r({reached}.open)))") is True
