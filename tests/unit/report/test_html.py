import re
from html.parser import HTMLParser

import pytest
from tests.unit.report.hostile import EVERY, STEERING, everywhere

from faultwire.report.html import render
from faultwire.report.page import injected
from faultwire.report.schema import problems


class Page(HTMLParser):
    """What a browser would build: tags, attributes and text."""

    def __init__(self, text):
        super().__init__(convert_charrefs=True)
        self.tags, self.attributes, self.texts = [], [], []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.attributes += [(tag, *pair) for pair in attrs]

    def handle_data(self, data):
        self.texts.append(data)


@pytest.fixture
def page(make_document):
    return lambda **changes: Page(render(make_document(**changes)))


def test_it_states_what_happened(page):
    text = " ".join(" ".join(page().texts).split())
    for wanted in (
        "25.00",
        "rule: every cell must pass",
        "Judged: 6 of 6 cells",
        "5 passed · 1 failed · 0 unknown",
        "says_391",
        "ab" * 32,
        "cut after event 2",
    ):
        assert wanted in text
    assert "95 % interval 6–94 %" in text
    assert "the stream was cut after event 2" in text
    assert "the server sent 6 events before it ended, the agent received 2" in text


def test_it_has_no_script_and_no_external_resource(page):
    built = page()
    assert not {"script", "link", "iframe", "object", "embed", "img", "form", "base"} & set(built.tags)
    policy = next(
        v for tag, k, v in built.attributes if tag == "meta" and k == "content" and "default-src" in v
    )
    assert policy.startswith("default-src 'none'; style-src 'unsafe-inline'")
    for tag, name, value in built.attributes:
        assert not name.startswith("on"), (tag, name)
        assert name not in ("src", "srcset", "action"), (tag, name)
        if name == "href":
            assert value.startswith("#")


@pytest.mark.parametrize("hostile", EVERY)
def test_hostile_output_is_inert(page, hostile):
    plain, built = (
        page(answer_cut="something else"),
        page(answer_cut=f"{hostile} 17", answer_calm=f"391 {hostile}", stderr=f"{hostile} ", prompt=hostile),
    )
    assert sorted(set(built.tags)) == sorted({*plain.tags})
    assert built.tags.count("b") == plain.tags.count("b")
    assert not any(name.startswith("on") for _, name, _ in built.attributes)
    everything = "".join(built.texts) + "".join(str(a) for a in built.attributes)
    assert not STEERING & set(everything)


@pytest.mark.parametrize("hostile", EVERY)
def test_hostile_text_is_inert_everywhere(make_document, hostile):
    """The same elements as with harmless words, and nothing that loads, runs or steers."""
    given = {"before": make_document(), "trend": [{"id": hostile, "started_at": hostile, "score": 1.0}]}
    plain = Page(render(everywhere(make_document(**given), "plain")))
    built = Page(render(everywhere(make_document(**given), hostile)))
    assert set(built.tags) - {"pre"} <= set(plain.tags)
    for tag in ("svg", "style", "meta", "title", "h1", "input"):
        assert built.tags.count(tag) == plain.tags.count(tag), tag
    assert not [name for _, name, _ in built.attributes if name.startswith("on") or name in ("src", "srcdoc")]
    assert all(v.startswith("#") for _, name, v in built.attributes if name == "href")
    assert not STEERING & set("".join(built.texts) + "".join(str(a) for a in built.attributes))


def test_values_in_backticks_become_code(page):
    built = page()
    assert "391" in built.texts[built.texts.index("391")]
    assert "code" in built.tags


def test_links_have_targets(page):
    built = page()
    ids = {value for _, name, value in built.attributes if name == "id"}
    links = {value[1:] for _, name, value in built.attributes if name == "href"}
    assert links
    assert links <= ids


def test_what_fired_is_counted_per_entry(make_document):
    assert injected(make_document()) == [
        {
            "scenario": "stream_chaos", "id": "cut_stream", "settings": {},
            "fired": 1, "invocations": 1, "of": 1, "effect": "cut after event 2", "why": "",
        }
    ]  # fmt: skip


def test_more_fired_than_a_report_has_room_to_show(make_document):
    document = make_document()
    document["scenarios"][1]["entries"][0]["outcome"] |= {"fired": 250}
    assert injected(document)[0]["fired"] == 250
    document["scenarios"][1]["entries"][0]["outcome"] = None  # of an earlier release
    assert injected(document)[0]["fired"] == 1


def test_a_fault_that_never_fired_is_marked(make_document):
    document = make_document()
    assert "<td>never fired" not in render(document)
    outcome = {"fired": 0, "invocations": 0, "unfired": ["rolled 0.2 or more", "it <changed> nothing"]}
    document["scenarios"][1]["entries"][0]["outcome"] = outcome
    assert "never fired: rolled 0.2 or more; it &lt;changed&gt; nothing<" in render(document)


def test_fifty_megabytes_of_output_make_a_small_page(make_document):
    text = render(make_document(answer_cut="<" * 50_000_000))
    assert len(text) < 300_000


def test_a_run_without_verdicts_still_has_a_page(make_document):
    document = make_document()
    document["cells"] = []
    document["score"]["number"] = document["score"]["clean_invocations"]["rate"] = None
    document["score"]["gate"] = "unknown"
    assert "–" in Page(render(document)).texts


def text_of(document):
    return " ".join(" ".join(Page(render(document)).texts).split())


def test_inconclusive_invocations_are_listed_first(make_document):
    document = make_document()
    assert "inconclusive" not in text_of(document)
    for part in document["invocations"]:
        part["voids"] = ["the engine ended with code `-9`"]
    text = text_of(document)
    assert "2 of 2 invocations are inconclusive and not counted." in text
    assert text.index("are inconclusive") < text.index("Each mark is one cell")
    assert "the engine ended with code -9 : calm/p1/r1, stream_chaos/p1/r1" in text


def test_traffic_outside_exchanges_is_listed(make_document):
    document = make_document()
    assert "traffic that became no exchange" not in text_of(document)
    document["run"]["notes"] = ["3 calls to `h` were turned away (407)"]
    document["invocations"][0]["notes"] = ["2 connections named no known proxy user (407) <b>"]
    text = text_of(document)
    assert "Traffic outside exchanges 3 calls to h were turned away (407)" in text
    assert "traffic that became no exchange 2 connections named no known proxy user (407) <b>" in text


def test_an_exchange_shows_its_conversation(make_document):
    text = text_of(make_document())
    assert "user 17 * 23?" in text
    assert "Each mark is one cell: " in text
    assert "`391`" not in text  # words in backticks are code, also in the list of verdicts
    assert "1 fault that did not act here and why" in text  # what did not fire stands apart


def test_events_are_numbered_so_that_the_cut_can_be_found(make_document):
    built = Page(render(make_document()))
    texts = [text.strip() for text in built.texts if text.strip()]
    cut = texts.index("✂ the stream was cut after event 2")
    assert texts[cut - 3] == "2"  # number, instant, words
    assert texts[cut + 1 : cut + 3] == ["3", "never came"]


def test_everything_that_opens_can_be_reached_with_the_keyboard(make_document):
    built = Page(render(make_document()))
    assert built.tags.count("summary") == built.tags.count("details") > 6
    assert not [a for a in built.attributes if a[1] in ("tabindex", "onclick")]
    page = render(make_document())
    assert "a:focus-visible,summary:focus-visible{outline:" in page
    assert page.count("prefers-color-scheme:dark") == 1


def luminance(colour):
    channels = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def test_words_stand_out_from_what_is_behind_them_in_light_and_in_dark(make_document):
    """WCAG 2.2, 1.4.3: a contrast of 4.5 to 1."""
    schemes = re.findall(r":root\{(--bg:[^}]*)\}", render(make_document()))
    assert len(schemes) == 2
    for scheme in schemes:
        colour = dict(re.findall(r"--(\w+):(#[0-9a-f]{3,6})", scheme))
        colour = {n: v if len(v) == 7 else "#" + "".join(c * 2 for c in v[1:]) for n, v in colour.items()}
        pairs = [(word, behind) for word in ("ink", "dim") for behind in ("bg", "card", "code")]
        pairs += [(state, f"{state}bg") for state in ("pass", "fail", "unk", "fault")]
        for word, behind in pairs:
            light, dark = sorted((luminance(colour[word]), luminance(colour[behind])), reverse=True)
            assert (light + 0.05) / (dark + 0.05) >= 4.5, (word, behind, colour[word], colour[behind])


def test_what_a_fault_changed_is_shown_line_by_line(make_document, make_recorded):
    document = make_document()
    exchange = document["invocations"][1]["exchanges"][0]
    exchange["upstream"] = {**exchange["delivered"], "status": 201, "body": {"bytes": 9, "text": "the truth"}}
    exchange["sent"] = {**exchange["request"], "url": "https://elsewhere/"}
    text = text_of(document)
    assert "the server said, + the agent got - 201 OK + 200 OK" in text
    assert "- the truth +" in text
    assert "the agent sent, + went on to the server - POST https://api" in text
    assert "+ POST https://elsewhere/" in text
    assert "request as forwarded" in text


def test_evidence_links_to_the_exchange(make_document):
    document = make_document()
    document["suggestions"][0]["evidence"][0]["exchanges"] = [2]
    built = Page(render(document))
    links = [value for _, name, value in built.attributes if name == "href"]
    assert "#i2e2" in links
    text = " ".join(" ".join(built.texts).split())
    assert "Recommended fixes Based on" in text
    assert "Treat a stream without its closing event as a failure" in text


def test_statistics_are_explained(make_document):
    text = text_of(make_document())
    assert "stream_chaos 0 of 1 0–85 % -100 points -100 to +12 1 not significant" in text
    assert "its 95 % interval (Jeffreys)" in text
    assert "over all scenarios (Holm)" in text
    assert "pass^" not in text  # without repeats there is nothing to say of streaks


def test_repeats_flaky_cells_and_mutants_have_their_place(make_document):
    document = make_document()
    document["statistics"] |= {"k": 5, "flaky_count": 1}
    document["statistics"]["flaky"] = [
        {"invariant": "a", "scenario": "calm", "prompt": "p1", "passed": 3, "failed": 2}
    ]
    row = {"passed": 1, "total": 2, "rate": 0.5, "low": 0.1, "high": 0.9, "unknown": 3}
    types = [{"type": "noise", "weight": 1.0, **row}]
    document["mutations"] = {"robustness": 0.5, "types": types, "notes": ["`x` could not be applied"], **row}
    assert "Broken:" not in text_of(document)
    document["statistics"] |= {"broken_count": 1, "broken": document["statistics"]["flaky"]}
    text = text_of(document)
    assert "Broken: every repeat of the same invocation failed a in calm on p1: 2 of 2 failed" in text
    assert "is the probability that 5 invocations in a row pass (pass^5)" in text
    assert "a in calm on p1: 3 passed, 2 failed" in text
    assert "mutants that passed: 50.0 %" in text
    assert "noise 1 1 of 2 + 3 unknown" in text


def test_an_earlier_run_and_the_trend(make_document):
    before = make_document(answer_cut="391!")
    document = make_document(before=before, trend=[{"id": "a", "started_at": "then", "score": 10.0}])
    built = Page(render(document))
    text = " ".join(" ".join(built.texts).split())
    assert "The difference from 20261121T220000Z-00aa is not significant." in text
    assert "1 of 2 judged invocations without a failure now, 2 of 2 before: -50 points" in text
    assert "A difference may still exist" in text
    assert "1 cell passed then and fails now" in text
    assert built.tags.count("svg") == 3, "the mark, the trend and a lineage"
    assert built.tags.count("circle") == 2 + 2
    document["comparison"]["overall"] |= {"verdict": "significant"}
    assert "The difference is significant: this run is worse than 2026" in text_of(document)


def test_partial_runs_and_warnings_are_at_the_top(make_document):
    text = text_of(make_document(about={"planned": 9, "warnings": ("`x` means nothing",)}))
    assert "Partial: 2 of 9 invocations were run before the run was interrupted." in text
    assert text.index("x means nothing") < text.index("Each mark is one cell")


def test_invocations_can_be_picked_without_a_script(make_document):
    page = render(make_document())
    built = Page(page)
    inputs = [dict(part for t, *part in built.attributes if t == "input")] and built.tags.count("input")
    assert inputs == 4 + 1 + 2
    assert "#v-fail:checked~.list .inv:not(.fail)" in page
    assert "#s-1:checked~.list .inv:not(.s1){display:none}" in page
    assert ("details", "class", "inv fail s1") in built.attributes


def test_a_large_run_is_a_small_page(make_document):
    """Some of every kind are in full, the others in short, and what is left out is said."""
    document = make_document()
    calm, cut = document["invocations"]
    cells = document["cells"]
    body = {"bytes": 9_000, "text": "x" * 4_096}
    for exchange in (*calm["exchanges"], *cut["exchanges"]):
        exchange["request"]["body"] = exchange["delivered"]["body"] = body
    many, more = [], []
    for at in range(3_000):
        part = cut if at % 3 else calm
        many.append({**part, "id": f"{part['scenario']}/p1/r{at}"})
        own = [c for c in cells if c["invocation"] == part["id"]]
        more += [{**cell, "invocation": many[-1]["id"]} for cell in own]
    document |= {"invocations": many, "cells": more}
    document["suggestions"] = []
    page = render(document)
    assert len(page.encode()) < 10_000_000
    built = Page(page)
    whole = " ".join(" ".join(built.texts).split())
    assert "in short: some of every kind of finding" in whole
    assert "more invocations did not fit: report.json and the tape have them." in whole
    assert "faultwire tape show run.tape --session" in whole
    ids = {value for _, name, value in built.attributes if name == "id"}
    assert {"i1", "i2", "i1e1", "i2e2"} <= ids


def test_commands_to_copy_are_safe_in_a_shell(make_document):
    document = make_document(about={"tapes": ("a; rm -rf ~.tape",)})
    assert "faultwire tape verify 'a; rm -rf ~.tape'" in text_of(document)


DECIDED = ((("calm", "p1"), "good"), (("stream_chaos", "p1"), "exhausted"), (("stream_chaos", "p2"), "bad"))


def test_decisions_of_until_are_listed(make_document):
    document = make_document(decisions=DECIDED)
    assert problems(document) == []
    text = text_of(document)
    assert (
        "Repeated until the pass rate was decided 1 bad, 1 undecided at the maximum number of runs, 1 good"
        in text
    )
    assert text.index("p2 in stream_chaos : bad") < text.index("p1 in stream_chaos : exhausted")
    assert "Repeated until" not in text_of(make_document())


def test_a_matrix_of_thousands_of_squares_is_a_small_page(make_document):
    document = make_document()
    _, cut = document["invocations"]
    base = document["cells"][4]
    scenario = document["scenarios"][1]
    document["scenarios"] = [{**scenario, "name": f"s{n}"} for n in range(100)]
    document["invocations"] = [
        {**cut, "id": f"s{n}/p1/r1", "scenario": f"s{n}", "voids": [f"why {n}"]} for n in range(100)
    ]
    words = {**base, "explanation": "<" * 1000}
    document["cells"] = [
        {**words, "invariant": f"i{m}", "scenario": f"s{n}", "invocation": f"s{n}/p1/r1"}
        for n in range(100)
        for m in range(100)
    ]
    document["suggestions"] = []
    page = render(document)
    assert len(page.encode()) < 10_000_000
    text = " ".join(" ".join(Page(page).texts).split())
    assert "… 40 more invariants in report.json" in text
    assert "100 of 100 invocations are inconclusive" in text


def test_an_invocation_that_fills_a_page_is_shown_in_short(make_document):
    """A hundred exchanges whose headers and bodies are all that a report repeats."""
    document = make_document()
    calm, _ = document["invocations"]
    side = {"headers": [["<" * 200, "<" * 500]] * 100, "body": {"bytes": 9_000, "text": "<" * 4_096}}
    one = calm["exchanges"][0]
    heavy = {**one, "request": {**one["request"], **side}, "delivered": {**one["delivered"], **side}}
    calm["exchanges"] = [{**heavy, "number": number} for number in range(1, 101)]
    page = render(document)
    assert len(page) < 1_000_000
    assert "1 of 2 are in short" in " ".join(Page(page).texts)
