from __future__ import annotations

from pathlib import Path

import pytest
from tests.unit.blame.test_document import made

from faultwire.report.blame import WIDTH, bar, headline, lines, picture, rates_around, render
from faultwire.report.html import environment


def test_the_terminal_names_the_cause_within_60_columns(tmp_path: Path) -> None:
    found = made(tmp_path, frozenset({1}), curve=True)
    shown = list(lines(found))
    assert shown[0] == "#3 makes the failure"
    assert max(map(len, shown)) <= WIDTH
    text = "\n".join(shown)
    assert "cause: fails 0 of" in text
    assert shown[1].startswith("#3 status on its call 3")
    assert "forked from #3 on, 100% of runs fail,\n  forked before it 0%" in text
    assert "first step #1, last step #5, first fault #1" in text


def test_of_two_changes_of_one_exchange_each_has_its_own_rate() -> None:
    def point(exchange: int, failed: int) -> dict[str, float]:
        return {"exchange": exchange, "failed": failed, "runs": 4, "low": 0.0, "high": 1.0}

    change = {"step": 2, "exchange": 2, "low": 2, "high": 2, "probability": 0.9}
    curve = {"points": [point(0, 0), point(2, 0), point(2, 4)], "change": change}
    assert rates_around(curve) == (0.0, 1.0)
    drawn = picture(curve)
    assert drawn["x"] == drawn["points"][2]["x"] > drawn["points"][1]["x"]


def test_the_terminal_says_what_the_rate_changes_with(tmp_path: Path) -> None:
    found = made(tmp_path, frozenset({1}), curve=True)
    found["curve"]["points"][1]["exchange"] = 3
    text = "\n".join(lines(found))
    assert "forked from #3 on, 100% of runs fail,\n  without the last of its changes 0%" in text
    assert "forked before it" not in text


def test_a_pair_is_named_as_a_pair(tmp_path: Path) -> None:
    text = "\n".join(lines(made(tmp_path, frozenset({0, 2}))))
    assert "#1, #4 make the failure" in text
    assert "#1 and #4 are needed together" in text


def test_nothing_is_blamed_where_nothing_was_found(tmp_path: Path) -> None:
    found = made(tmp_path, frozenset({1}))
    for part in found["parts"]:
        part["verdict"] = "none"
    assert headline({**found, "blamed": []}).startswith("none of the 3 parts")
    found["parts"][0]["verdict"] = "open"
    assert "1 of 3 are not decided" in headline({**found, "blamed": []})


@pytest.mark.parametrize(
    ("interval", "drawn"),
    [
        ({"value": 1.0, "low": 0.5, "high": 1.0}, "█" * 28),
        ({"value": 0.0, "low": -0.3, "high": 0.5}, "─" * 14 + "·" * 14),
        ({"value": 0.5, "low": 0.25, "high": 0.75}, "█" * 14 + "─" * 7 + "·" * 7),
    ],
)
def test_bars(interval: dict[str, float], drawn: str) -> None:
    assert bar(interval) == drawn


def test_the_page_has_no_script_and_escapes_what_agents_and_servers_said(tmp_path: Path) -> None:
    found = made(tmp_path, frozenset({1}), curve=True)
    found["parts"][1]["failed"] = "<script>alert(1)</script>\u202e"
    page = render(found)
    assert "<script" not in page
    assert "&lt;script&gt;" in page
    assert "\u202e" not in page
    assert "default-src 'none'" in page
    for words in (
        "in the failed run",
        "in the calm run",
        "first fault: #1",
        "The rate changes at",
        "<polyline fill",
    ):
        assert words in page
    assert environment()


def test_a_page_without_a_curve_or_a_cause(tmp_path: Path) -> None:
    found = made(tmp_path, frozenset({1}))
    page = render({**found, "blamed": []})
    assert "No part is blamed" in page
    assert "<polyline fill" not in page


@pytest.mark.parametrize(
    ("cost_usd", "unpriced", "words"),
    [
        (0.02, 0, "0.0200 dollars of models"),
        (0.0, 2, "cost of models unknown"),
        (0.02, 1, "0.0200 dollars of models and the unknown cost of 1 answer"),
        (0.02, 2, "0.0200 dollars of models and the unknown cost of 2 answers"),
    ],
)
def test_the_page_says_what_of_the_cost_is_known(
    tmp_path: Path, cost_usd: float, unpriced: int, words: str
) -> None:
    page = render({**made(tmp_path, frozenset({1})), "cost_usd": cost_usd, "unpriced": unpriced})
    (small,) = [part for part in page.split("<small>") if "of models" in part.partition("</small>")[0]]
    assert small.partition("</small>")[0].endswith(f" s, {words}")
