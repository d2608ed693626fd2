"""Each view looks as it did: screenshots at three widths, in light and dark, beside kept references."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from tests.e2e.workbench import steady_fonts
from tests.e2e.workbench.conftest import PROGRAM, SWITCHES, WIDTHS, Deeds
from tests.e2e.workbench.looks import HEIGHT, MOST, differences, shots
from tests.e2e.workbench.serving import Bench, serving
from tests.e2e.workbench.test_controls import HELD, Engine
from tests.unit.shrink.test_repro import ABOUT
from tests.unit.workbench.conftest import Deck, answered, asked, deck_at
from tests.unit.workbench.test_explored_view import DOCUMENT
from tests.unit.workbench.test_mutants_view import report, written

from faultwire.profile.load import parse
from faultwire.shrink import repro
from faultwire.trials.model import Pin
from faultwire.trials.pins import pinned
from faultwire.workbench.controls import Controls

RUN, MUTANTS = "20261128T090000Z-aaaaaaaa", "20261128T100000Z-bbbbbbbb"
WHERE = "the parcel QX-7731-PLM waits in Rotterdam"
FAULTED = parse("faults:\n  - status: {code: 503}\n  - latency: {ms: 9}\n", "p.yaml")
TOOL = {
    "type": "object", "required": ["city"],
    "properties": {"city": {"type": "string", "description": "Where"}, "days": {"type": "integer"}},
}  # fmt: skip
LOOK = {
    **HELD, "at": "tool_call", "number": 4, "session": "exec", "tool": "get_weather", "model": "gpt-4o",
    "client_says": "x-stainless-read-timeout", "client_waits_s": 600.0, "client_left_s": 541.5,
    "kept_alive": True, "may": ["resume", "cut"], "break": "b1",
    "shown": {"calls": [{"name": "get_weather", "arguments": '{"city": "Rome", "days": 2}', "schema": TOOL}]},
}  # fmt: skip


class Holder(Engine):
    """An engine that holds one call, and waits for ever: the texts of its page do not change."""

    def _serve(self, one: Any) -> None:
        with one, one.makefile("rb") as lines:
            for line in lines:
                asked_for = json.loads(line)["op"]
                reply = LOOK if asked_for == "look" else {"held": [LOOK], "interventions": []}
                one.sendall(json.dumps(reply).encode() + b"\n")


@dataclass
class Shown:
    """A page of a project with one result of each kind."""

    page: Any
    bench: Bench

    def press(self, *keys: str) -> None:
        for key in keys:
            self.page.keyboard.press(key)

    def exchange(self, at: int, part: int) -> None:
        self.press("g", *["j"] * at, "Enter")
        self.page.locator("#tabs [role=tab]").first.wait_for()
        self.press(str(part))
        self.page.evaluate("document.getElementById('list').focus()")

    def result(self, kind: str, ident: str) -> None:
        self.page.evaluate("hash => { location.hash = hash; }", f"#/{kind}/{ident}")
        self.page.locator("#analysis-view .card").first.wait_for()
        self.page.evaluate("document.activeElement.blur()")

    def filtered(self, text: str) -> None:
        self.page.locator("#on").fill(text)
        self.page.locator("#filtered:not(:empty)").wait_for()

    def ran(self) -> None:
        self.press("r")
        self.page.locator("#runs[open] .run").first.wait_for()
        self.page.locator(".run", has_text=RUN).get_by_role("button").click()
        self.page.locator("#comparison [role=status]", has_text="the same").wait_for()

    def shared(self) -> None:
        self.press("s")
        self.page.locator("#shared-link:not(:empty)").wait_for()
        link = "http://127.0.0.1:40000/#token=" + "x" * 43
        self.page.evaluate("text => { document.getElementById('shared-link').textContent = text; }", link)

    def forked(self) -> None:
        self.exchange(0, 1)
        self.press("F")
        self.page.locator("#fork[open]").wait_for()

    def armed(self) -> None:
        self.press("b")
        self.page.locator("#arm[open] #arm-settings .field").first.wait_for()

    def edited(self) -> None:
        self.page.locator("#held button").wait_for()
        self.press("h")
        self.page.locator("#editor[open] .part-edit").first.wait_for()

    def verified(self) -> None:
        self.page.locator("#verify").click()
        self.page.locator("#totals", has_text="verifies").wait_for()

    def gone(self) -> None:
        self.page.evaluate("document.getElementById('closed').hidden = false")
        self.page.route("**/api/**", lambda one: one.abort())
        self.page.locator("#verify").click()
        self.page.locator("#closed", has_text="does not answer").wait_for()


VIEWS: dict[str, Callable[[Shown], None]] = {
    "list": Shown.verified,
    "refused_filter": lambda one: one.filtered("colour: red"),
    "conversation": lambda one: one.exchange(0, 1),
    "events": lambda one: one.exchange(4, 2),
    "wire": lambda one: one.exchange(2, 3),
    "ledger": lambda one: one.exchange(4, 4),
    "lineage": lambda one: one.exchange(0, 5),
    "keys": lambda one: one.press("?"),
    "runs": Shown.ran,
    "share": Shown.shared,
    "fork": Shown.forked,
    "explore": lambda one: one.result("explore", "0a1b2c3d4e5f"),
    "shrink": lambda one: one.result("shrink", "0c2d4e6f8a9b"),
    "evolve": lambda one: one.result("evolve", RUN),
    "mutations": lambda one: one.result("mutations", MUTANTS),
    "arm": Shown.armed,
    "editor": Shown.edited,
    "gone": Shown.gone,
}
BY_DAY = ("list",)


def exchanges(deck: Deck) -> None:
    """A call whose answer a later one repeats, a retry, one with a long answer, a stream that was cut."""
    deck.exchange(asked("Where is my parcel?"), answered(WHERE))
    deck.exchange(asked(f"Tell the customer: {WHERE}"), b'{"error":{"message":"busy"}}', status=503, key="k1")
    deck.exchange(asked(f"Tell the customer: {WHERE}"), attempt=1, key="k1")
    deck.exchange(asked("Tell me all of it."), answered("A long story, told at length. " * 40))
    deck.exchange(asked("nothing"), b"not what was promised", status=418)
    deck.cut()


def project(folder: Path) -> Path:
    """One result of each kind, and a run, as their commands leave them."""
    base = folder / ".faultwire"
    for ident in (RUN, MUTANTS):
        (base / "runs" / ident).mkdir(parents=True)
    first = base / "runs" / RUN
    about = {"command": "evolve", "status": "finished", "started_at": "2026-11-28T09:00:00+00:00"}
    (first / "run.json").write_text(json.dumps(about))
    written(first)
    deck = deck_at(first / "run.tape")
    deck.exchange(asked("Where is my parcel?"), answered("I do not know."))
    deck.exchange(asked("only there"))
    deck.close()
    scores = {"scores": {"mutation": 0.5}, "score": 0.5, "gate": "fail"}
    second = base / "runs" / MUTANTS
    (second / "run.json").write_text(json.dumps({**about, **scores, "command": "run"}))
    report(second, {"id": "p1-m1", "text": "Wht is 17 * 23?"})
    (second / "report.html").write_text("<p>a report")
    (base / "explore" / "0a1b2c3d4e5f-repro").mkdir(parents=True)
    (base / "explore" / "0a1b2c3d4e5f.json").write_text(json.dumps(DOCUMENT))
    (base / "shrink").mkdir()
    for place in (base / "explore" / "0a1b2c3d4e5f-repro" / "1", base / "shrink" / "0c2d4e6f8a9b-repro"):
        (folder / "0.tape").write_bytes(b"")
        pins = (Pin("latency", 1), Pin("status", 3))
        repro.write(place, ABOUT, pinned(FAULTED, pins), (), folder / "0.tape", [])
    for path in base.rglob("*"):
        os.utime(path, (1_795_000_000, 1_795_000_000), follow_symlinks=False)
    return base


@pytest.fixture(scope="session")
def steady(driver: Any) -> Iterator[Any]:
    """A Chromium that has the same fonts on every machine."""
    switches = [*SWITCHES, "--font-render-hinting=none", "--disable-lcd-text", "--force-color-profile=srgb"]
    browser = driver.chromium.launch(executable_path=PROGRAM, args=switches, env=steady_fonts.environment())
    yield browser
    browser.close()


@pytest.fixture(scope="module")
def blank(steady: Any) -> Iterator[Any]:
    page = steady.new_page()
    yield page
    page.close()


@pytest.fixture
def shown(steady: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[], Shown]]:
    monkeypatch.chdir(tmp_path)
    base = project(Path())
    deck = deck_at(Path("calls.tape"))
    exchanges(deck)
    engine = Holder(tmp_path / "control.sock")
    with ExitStack() as stack:

        def start(*, live: bool = False) -> Shown:
            controls = Controls(tmp_path / "control.sock") if live else None
            bench = stack.enter_context(serving(deck.close(), base=base, controls=controls))
            context = stack.enter_context(steady.new_context(viewport={"width": 1440, "height": HEIGHT}))
            page = context.new_page()
            page.deeds = Deeds(page)
            page.goto(bench.link)
            page.wait_for_selector("body[data-ready]")
            page.locator(".toggle").wait_for()
            page.evaluate("document.fonts.ready")
            return Shown(page, bench)

        yield start
    engine._socket.close()


@pytest.mark.by_day(*BY_DAY)
@pytest.mark.parametrize("view", VIEWS)
def test_a_view_looks_as_it_did(shown: Callable[..., Shown], blank: Any, view: str) -> None:
    one = shown(live=view in ("arm", "editor"))
    VIEWS[view](one)
    taken = shots(one.page)
    off = differences(blank, view, taken)
    assert off == {}, (
        f"more than {MOST:.1%} of the cells have changed; FAULTWIRE_SHOTS=FOLDER keeps the shots"
    )


PLANTED = {
    "a line that is higher": (".line{height:40px!important}", "list"),
    "facts in one column": ("#totals{grid-template-columns:1fr!important}", "list"),
    "no padding of the page": ("main{padding:0!important}", "list"),
    "a pane that is gone": ("#detail{display:none!important}", "conversation"),
    "text that is larger": ("body{font-size:18px!important}", "conversation"),
    "another colour of the ground": (":root{--bg:#d8e8d8!important}", "list"),
}


@pytest.mark.by_day("a line that is higher")
@pytest.mark.parametrize("name", PLANTED)
def test_control_a_planted_change_is_seen(shown: Callable[..., Shown], blank: Any, name: str) -> None:
    style, view = PLANTED[name]
    one = shown()
    VIEWS[view](one)
    one.page.evaluate(
        "text => { const sheet = new CSSStyleSheet(); sheet.replaceSync(text); "
        "document.adoptedStyleSheets = [sheet]; }",
        style,
    )
    assert differences(blank, view, shots(one.page))


def test_a_view_is_not_wider_than_the_window_and_cuts_no_button(shown: Callable[..., Shown]) -> None:
    one = shown()
    for width in WIDTHS:
        one.page.set_viewport_size({"width": width, "height": HEIGHT})
        assert one.page.evaluate("document.documentElement.scrollWidth") <= width
        cut = one.page.evaluate(
            "[...document.querySelectorAll('button')].filter((one) => one.offsetParent && "
            "one.scrollWidth > one.clientWidth + 1).map((one) => one.textContent)"
        )
        assert cut == []
