import io
import json
from html.parser import HTMLParser

import pytest
from rich.console import Console
from tests.unit.report.hostile import EVERY, STEERING

from faultwire.errors import FaultwireError
from faultwire.report import json as as_json
from faultwire.report.document import Subject
from faultwire.report.summary import Phase, markdown, render, summary_document, terminal

PHASES = (
    Phase(
        "mutation", 0.82, 0.2, "fail", {"pass": 10, "fail": 2}, "mutation/report.html",
        judged=(12, 12, "invocations"), invocations=14,
    ),
    Phase("chaos", 0.9, 0.35, "pass", {"pass": 20}, "chaos run/report.html", judged=(20, 24, "invocations")),
    Phase("contract", None, 0.35, "unknown", {"unknown": 3}, "contract/report.html", judged=(0, 3, "cells")),
    Phase("replay", weight=0.1, why="no `replays` in the configuration"),
)  # fmt: skip
RULE = "every score must be at least 90.00, and no critical cell may fail"
WHY = ("mutation: the score 82.00 is below the minimum 90.00",)


def make(phases=PHASES, agent="python agent.py", warnings=(), **changes):
    subject = Subject(
        "id",
        "ci",
        agent,
        42,
        8,
        "2026-11-22T00:00:00+00:00",
        9.5,
        "ab" * 32,
        ("run.tape",),
        warnings=warnings,
    )
    return summary_document(subject, phases, **{"overall": 0.8567, "gate": "fail", **changes})


class Page(HTMLParser):
    def __init__(self, text):
        super().__init__(convert_charrefs=True)
        self.tags, self.links, self.texts, self.names = [], [], [], []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.names += [name for name, _ in attrs]
        self.links += [value for name, value in attrs if name == "href"]

    def handle_data(self, data):
        self.texts.append(data)


def test_the_document_holds_scores_of_a_hundred():
    document = make(minimum=0.9, trend=[{"id": "a", "started_at": "2026", "score": 40.0, "gate": "fail"}])
    assert (document["schema"], document["score"], document["minimum"]) == ("faultwire-ci", 85.67, 90.0)
    assert [(p["name"], p["score"], p["weight"]) for p in document["phases"]] == [
        ("mutation", 82.0, 0.2), ("chaos", 90.0, 0.35), ("contract", None, 0.35), ("replay", None, 0.1),
    ]  # fmt: skip
    assert document["phases"][1]["report"] == "./chaos%20run/report.html"
    assert [run["score"] for run in document["trend"]["runs"]] == [40.0, 85.67]
    assert json.loads(as_json.render(document)) == document


def test_the_page_links_the_phases_and_loads_nothing():
    page = Page(render(make(minimum=0.9, rule=RULE, reasons=WHY)))
    assert [link for link in page.links if not link.startswith("#")] == [
        "./mutation/report.html", "./chaos%20run/report.html", "./contract/report.html",
    ]  # fmt: skip
    assert not {"script", "link", "iframe", "img", "form"} & set(page.tags)
    text = " ".join(" ".join(page.texts).split())
    for wanted in (
        "85.67",
        f"rule: {RULE}",
        *WHY,
        "20 of 24 invocations with faults",
        "12 of 12 mutants",
        "10 passed, 2 failed",
        "no replays in the configuration",
    ):
        assert wanted in text


def test_a_run_without_a_score_has_a_page():
    assert "–" in Page(render(make(overall=None, gate="unknown"))).texts


@pytest.mark.parametrize("report", ["/etc/passwd", "../x.html", "a/../../x", "", "..\\x"])
def test_links_stay_below_the_summary(report):
    with pytest.raises(FaultwireError, match="below the summary"):
        make((Phase("chaos", report=report),))


@pytest.mark.parametrize("report", ["javascript:alert(1)", "http://x/", "//x/y", "data:text/html,x", '"><b>'])
def test_whatever_a_link_says_it_is_a_path(report):
    if report.startswith("//"):
        with pytest.raises(FaultwireError):
            make((Phase("chaos", report=report),))
        return
    page = Page(render(make((Phase("chaos", report=report),))))
    (link,) = [link for link in page.links if not link.startswith("#")]
    assert link.startswith("./")
    assert ":" not in link


def test_a_phase_that_there_is_not_is_refused():
    with pytest.raises(FaultwireError, match="found the phase `x`"):
        make((Phase("x"),))


@pytest.mark.parametrize("text", EVERY)
def test_hostile_text_is_inert(text):
    document = make((Phase("chaos", why=text),), agent=text, warnings=(text,))
    page = Page(render(document))
    assert not {"script", "img", "iframe", "base"} & set(page.tags)
    assert page.tags.count("svg") == page.tags.count("h1") == 1
    assert not [name for name in page.names if name.startswith("on")]
    console = Console(file=io.StringIO(), width=110)
    console.print(terminal(document))
    for shown in (console.file.getvalue(), markdown(document), "".join(page.texts)):
        assert not STEERING & set(shown)


def test_it_reads_like_this_in_markdown():
    assert markdown(make(minimum=0.9, rule=RULE, reasons=WHY)) == (
        "## ❌ faultwire ci: failed\n\n**85.67** of 100, threshold 90.00: failed\n\n"
        f"Rule: `{RULE}`\n\n- `{WHY[0]}`\n\n"
        "| phase | score | weight | verdict | invocations | cells | score from |\n"
        "| --- | --- | --- | --- | --- | --- | --- |\n"
        "| mutation | **82.00** | 0.2 | ❌ failed | 14 | 10 pass, 2 fail | 12 of 12 mutants |\n"
        "| chaos | **90.00** | 0.35 | ✅ passed | – | 20 pass | 20 of 24 invocations with faults |\n"
        "| contract | – | 0.35 | ❔ unknown | – | 3 unknown | 0 of 3 cells |\n"
        "| replay | – | 0.1 | `no 'replays' in the configuration` | – | – | – |\n\n"
        f"run `id` · seed 42 · ledger `{'ab' * 32}`\n"
    )


def test_it_reads_like_this_on_a_terminal():
    console = Console(file=io.StringIO(), width=180)
    console.print(terminal(make()))
    lines = [" ".join(text.split()) for text in console.file.getvalue().splitlines() if text.strip("─ ")]
    assert lines == [
        "phase score weight verdict invocations cells score from",
        "mutation 82.00 0.2 failed 14 10 pass, 2 fail 12 of 12 mutants",
        "chaos 90.00 0.35 passed – 20 pass 20 of 24 invocations with faults",
        "contract - 0.35 unknown – 3 unknown 0 of 3 cells",
        "replay - 0.1 no `replays` in the configuration – – –",
        "overall 85.67 of 100: failed",
    ]
