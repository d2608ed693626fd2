"""The workbench's page in a real browser, used as somebody would."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from tests.e2e.workbench.accessibility import findings
from tests.e2e.workbench.conftest import WIDTHS
from tests.e2e.workbench.serving import Bench, serving
from tests.unit.report.hostile import EVERY, INVALID
from tests.unit.workbench.conftest import Deck, answered, asked, deck_at

from faultwire.events import Exchange, Request, Response

Open = Callable[[Path], Bench]


@pytest.fixture
def deck(tmp_path: Path) -> Iterator[Deck]:
    made = deck_at(tmp_path / "t.tape")
    yield made
    made.writer.close()


@pytest.fixture
def opened(page: Any) -> Iterator[Open]:
    """Serve a tape, and open its link."""
    with ExitStack() as stack:

        def start(tape: Path) -> Bench:
            bench = stack.enter_context(serving(tape))
            page.goto(bench.link)
            page.wait_for_selector("body[data-ready]")
            return bench

        yield start


@pytest.fixture
def calls(deck: Deck) -> Path:
    """A call, one with a retry, a stream that was cut."""
    deck.exchange()
    deck.exchange(asked("again"), b'{"error":{"message":"busy"}}', status=503, key="k1")
    deck.exchange(asked("again"), attempt=1, key="k1")
    deck.cut()
    return deck.close()


def numbers(page: Any) -> list[str]:
    return page.locator(".space .line .c-no").all_inner_texts()


# ---------------------------------------------------------------- the list


def test_retries_stand_under_their_call_and_come_out_by_a_key(page: Any, opened: Open, calls: Path) -> None:
    opened(calls)
    page.locator(".toggle").wait_for()
    assert numbers(page) == ["1", "2", "4"]
    page.keyboard.press("j")
    page.keyboard.press("x")
    page.locator(".line.retry").wait_for()
    assert numbers(page) == ["1", "2", "3", "4"]
    page.keyboard.press("x")
    page.locator(".line.retry").wait_for(state="detached")
    assert numbers(page) == ["1", "2", "4"]


def test_tokens_cost_and_faults_are_summed(page: Any, opened: Open, calls: Path) -> None:
    opened(calls)
    page.locator(".toggle").wait_for()
    page.locator("#totals", has_text="14 in, 6 out").wait_for()
    totals = page.locator("#totals").inner_text()
    assert "4" in totals
    assert "1" in totals
    assert "not read yet" not in totals


def test_answers_of_unknown_price_are_counted_beside_the_cost(page: Any, opened: Open, deck: Deck) -> None:
    unpriced = asked("x", model="of-nobody"), answered().replace(b"gpt-4o-mini", b"of-nobody")
    deck.exchange()
    deck.exchange(*unpriced)
    opened(deck.path)
    page.locator("#totals small", has_text="1 answer unpriced").wait_for()
    deck.exchange(*unpriced)
    page.locator("#totals small", has_text="2 answers unpriced").wait_for()


def test_where_every_price_is_known_none_is_called_unknown(page: Any, opened: Open, deck: Deck) -> None:
    deck.exchange()
    deck.exchange()
    opened(deck.close())
    page.locator("#totals", has_text="14 in, 6 out").wait_for()
    assert "unpriced" not in page.locator("#totals").inner_text()


def test_a_tunnel_is_called_one_and_a_call_is_not(page: Any, opened: Open, deck: Deck) -> None:
    connect = Request("CONNECT", "https", "api.openai.com", 443, "")
    recording = deck.writer.record(Exchange("s", 1, connect, "llm", None, "openai"))
    recording.request(connect)
    recording.delivered_head(Response(200, "Connection established"))
    recording.end("complete", None, ())
    deck.count = 1
    deck.exchange()
    opened(deck.close())
    page.locator(".space .line").nth(1).wait_for()
    assert page.locator(".space .line .c-what b").all_inner_texts() == ["tunnel", "openai_chat"]


@pytest.mark.parametrize(
    ("text", "expected"), [("status: 503", ["2"]), ("stream: true", ["4"]), ("text: again", ["2"])]
)
def test_a_filter_leaves_what_matches(
    page: Any, opened: Open, calls: Path, text: str, expected: list[str]
) -> None:
    opened(calls)
    page.locator(".toggle").wait_for()
    page.keyboard.press("/")
    page.keyboard.type(text)
    page.locator("#totals small", has_text="match").wait_for()
    assert numbers(page) == expected
    page.locator("#on").fill("")
    page.locator("#totals small", has_text="match").wait_for(state="detached")
    assert numbers(page) == ["1", "2", "4"]


def test_a_word_that_on_does_not_have_is_explained(page: Any, opened: Open, calls: Path) -> None:
    opened(calls)
    page.locator("#on").fill("colour: red")
    page.locator("#filtered", has_text="colour").wait_for()
    assert page.locator("#on").get_attribute("aria-invalid") == "true"
    page.locator("#on").fill("status: 503")
    page.locator("#on:not([aria-invalid])").wait_for()


def test_of_many_rows_only_those_in_sight_are_in_the_document(page: Any, opened: Open, deck: Deck) -> None:
    deck.many(2_000)
    opened(deck.close())
    page.locator("#list[aria-rowcount='2001']").wait_for()
    assert 10 < page.locator(".space .line").count() < 80
    page.keyboard.press("G")
    page.locator(".line.selected .c-no", has_text="2000").wait_for()
    assert page.locator(".space .line").count() < 80
    page.keyboard.press("g")
    page.locator(".line.selected .c-no", has_text="1").wait_for()


def test_a_call_that_comes_is_shown_without_a_reload(page: Any, opened: Open, deck: Deck) -> None:
    deck.exchange()
    opened(deck.path)
    page.locator("#state", has_text="live").wait_for()
    deck.begin()
    page.locator(".line .chip", has_text="waiting").wait_for()
    deck.exchange(asked("another"))
    page.locator(".line .c-no", has_text="3").wait_for()
    deck.close()
    page.locator("#state", has_text="ended").wait_for()


def test_a_live_call_is_filtered_too(page: Any, opened: Open, deck: Deck) -> None:
    deck.exchange()
    opened(deck.path)
    page.locator("#on").fill("status: 503")
    page.locator("#totals small", has_text="0 match").wait_for()
    deck.exchange(status=503)
    page.locator("#totals small", has_text="1 match").wait_for()
    assert numbers(page) == ["2"]


# ---------------------------------------------------------------- one exchange


def test_the_keys_lead_through_an_exchange_and_back(page: Any, opened: Open, calls: Path) -> None:
    opened(calls)
    page.locator(".toggle").wait_for()
    page.keyboard.press("End")
    page.keyboard.press("Enter")
    page.locator("#tabs [role=tab]").first.wait_for()
    assert page.evaluate("document.activeElement.id") == "title"
    for key, part in (("2", "events"), ("3", "wire"), ("4", "ledger"), ("1", "conversation")):
        page.keyboard.press(key)
        page.locator(f"#view [data-part={part}]:not([hidden])").wait_for()
        assert page.locator("#view [data-part]:not([hidden])").count() == 1
    page.keyboard.press("2")
    assert "the server sent 2 events, the agent got 1" in page.locator("#view").inner_text()
    page.keyboard.press("Escape")
    page.locator("#detail").wait_for(state="hidden")
    assert page.evaluate("document.activeElement.id") == "list"


def test_a_tape_that_is_damaged_is_shown_as_far_as_it_goes(page: Any, opened: Open, calls: Path) -> None:
    calls.chmod(0o600)
    with sqlite3.connect(calls) as connection:
        connection.execute("UPDATE events SET record = CAST(record || ' ' AS BLOB) WHERE seq = 8")
    opened(calls)
    page.locator("#banners", has_text="event 8").wait_for()
    page.locator("#verify").click()
    page.locator("#totals", has_text="does not verify").wait_for()
    assert "hash_mismatch" in page.locator("#banners").inner_text()


def test_a_sound_tape_has_no_banner_and_verifies(page: Any, opened: Open, calls: Path) -> None:
    opened(calls)
    page.locator("#verify").click()
    page.locator("#totals", has_text="verifies").wait_for()
    assert "reading stopped" not in page.locator("#banners").inner_text()


def test_when_the_workbench_ends_the_page_says_so(page: Any, calls: Path) -> None:
    with serving(calls) as bench:
        page.goto(bench.link)
        page.wait_for_selector("body[data-ready]")
        assert page.locator("#closed").is_hidden()
    page.locator("#closed", has_text="does not answer").wait_for()


# ---------------------------------------------------------------- hostile, wide, accessible


def test_hostile_traffic_runs_loads_and_breaks_nothing(page: Any, opened: Open, deck: Deck) -> None:
    for text in EVERY:
        deck.exchange(asked(text), answered(text), flush=False)
    deck.exchange(asked("bytes"), INVALID, path="/v1/chat/completions?<script>")
    deck.close()
    bench = opened(deck.path)
    page.locator(f"#list[aria-rowcount='{deck.count + 1}']").wait_for()
    page.keyboard.press("g")
    for _ in range(deck.count):
        page.keyboard.press("Enter")
        page.locator("#tabs [role=tab]").first.wait_for()
        page.keyboard.press("3")
        page.keyboard.press("Escape")
        page.keyboard.press("j")
    assert page.deeds.messages == []
    assert {url.split("/")[2] for url in page.deeds.requests} == {f"127.0.0.1:{bench.port}"}
    assert page.locator("script").count() == 1
    assert page.locator("#main img, iframe, object, base").count() == 0


def test_control_a_script_in_a_view_would_be_seen(
    page: Any, opened: Open, calls: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Our policy stops it, and the browser says so."""
    from markupsafe import Markup

    from faultwire.workbench import app

    markup = Markup("<section data-part=conversation><img src=x onerror=console.log('ran')></section>")
    monkeypatch.setattr(app, "sections", lambda *_: markup)
    opened(calls)
    page.keyboard.press("Enter")
    page.locator("#view img").wait_for(state="attached")
    page.wait_for_timeout(0)
    assert any("Content Security Policy" in text for text in page.deeds.messages)
    assert "ran" not in page.deeds.messages


@pytest.mark.parametrize("width", WIDTHS)
def test_nothing_is_wider_than_the_window(page: Any, opened: Open, calls: Path, width: int) -> None:
    page.set_viewport_size({"width": width, "height": 900})
    opened(calls)
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    page.keyboard.press("Enter")
    page.locator("#tabs [role=tab]").first.wait_for()
    assert page.evaluate("document.documentElement.scrollWidth") <= width


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", WIDTHS)
def test_axe_finds_nothing(page: Any, opened: Open, calls: Path, width: int, scheme: str) -> None:
    page.set_viewport_size({"width": width, "height": 900})
    page.emulate_media(color_scheme=scheme)
    opened(calls)
    page.locator(".toggle").wait_for()
    assert findings(page) == []
    page.keyboard.press("End")
    page.keyboard.press("Enter")
    page.locator("#tabs [role=tab]").first.wait_for()
    for key in "1234":
        page.keyboard.press(key)
        assert findings(page) == [], key
    page.keyboard.press("?")
    assert findings(page) == []


def test_control_axe_sees_what_is_wrong(page: Any, opened: Open, calls: Path) -> None:
    opened(calls)
    page.evaluate(
        "document.querySelector('label[for=on]').remove(); document.getElementById('on').placeholder = ''"
    )
    assert any("label" in one for one in findings(page))


def test_lineage_leads_from_one_exchange_to_the_other(page: Any, opened: Open, deck: Deck) -> None:
    brought = "the parcel QX-7731-PLM waits in Rotterdam"
    deck.exchange(asked("where is it?"), answered(brought))
    deck.exchange(asked(f"write: {brought}"))
    deck.exchange(asked("what is the time?"), answered("noon"))
    opened(deck.close())
    page.keyboard.press("g")
    page.keyboard.press("Enter")
    page.locator("[data-part=conversation]").wait_for()
    page.keyboard.press("5")
    part = page.locator("[data-part=lineage]")
    part.get_by_text("No bytes of an earlier answer were found in it.").wait_for()
    assert "QX-7731-PLM" in part.locator("ul.edges li").inner_text()
    assert "it reaches exchange 2." in part.inner_text()
    assert [one for one in findings(page) if one.startswith(("serious", "critical"))] == []
    part.get_by_role("button", name="exchange 2").click()
    page.locator("#title", has_text="2 openai_chat").wait_for()
    part.get_by_text("No bytes of its answer were found in a later request.").wait_for()
    assert "QX-7731-PLM" in part.locator("ul.edges li").inner_text()
