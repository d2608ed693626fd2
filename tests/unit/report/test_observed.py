import io

import pytest
from rich.console import Console
from tests.unit.checks.conftest import talk
from tests.unit.report.conftest import CUT, fired, recorded, stream

from faultwire.events import History
from faultwire.profile.model import Profile
from faultwire.report import html, junit, markdown, page, terminal
from faultwire.report.document import Subject
from faultwire.report.observed import UNNAMED, observed
from faultwire.report.schema import problems

BROKEN = Profile(name="stream_chaos", entries=(CUT,))


def report(*exchanges, code=0, profile=BROKEN, redact=lambda text: text, notes=(), voids=()):
    subject = Subject(
        "20261122T080000Z-00aa",
        "exec",
        "node",
        42,
        1,
        "2026-11-22T08:00:00+00:00",
        0.5,
        "ab" * 32,
        notes=notes,
    )
    return observed(subject, profile, History("exec", exchanges, voids=voids), code, redact=redact)


@pytest.fixture
def half():
    said, got = stream(["The", "highest", "is"]), stream(["The", "highest"])
    told = {"upstream": said, "delivered": got, "ending": "cut", "protocol": None}
    cut = recorded(2, "exec", faults=(fired(),), **told)
    return report(talk(1, answer="The highest", cut=True), cut)


def test_it_is_a_report_like_every_other(half):
    assert problems(half) == []
    assert half["run"]["command"] == "exec"
    assert [scenario["name"] for scenario in half["scenarios"]] == ["stream_chaos"]
    (one,) = half["invocations"]
    assert (one["id"], one["exit_code"], one["duration_s"], one["answer"]) == ("exec", 0, 0.5, None)
    assert [each["number"] for each in one["exchanges"]] == [1, 2]


def test_of_a_void_run_every_face_says_that_and_nothing_is_noticed():
    cut = talk(1, answer="The highest", cut=True)
    why = "the tape cannot be written: database or disk is full"
    void, whole = report(cut, voids=(why,)), report(cut)
    assert [len(one["suggestions"]) for one in (void, whole)] == [0, 1]
    console = Console(file=io.StringIO(), width=200)
    for document, there in ((void, True), (whole, False)):
        console.file = io.StringIO()
        console.print(terminal.render(document))
        for text in (console.file.getvalue(), html.render(document), markdown.render(document)):
            assert (why in text) == there
            assert ("inconclusive" in text) == there


def test_mistakes_are_listed_without_verdicts(half):
    assert (half["cells"], half["invariants"], half["score"]["value"]) == ([], [], None)
    (suggestion,) = half["suggestions"]
    assert suggestion["id"] == "refuse_halves"
    assert suggestion["evidence"][0]["exchanges"] == [1]
    assert report(talk(1))["suggestions"] == []


def test_mistakes_are_redacted():
    made = report(talk(1, answer="hunter2 is", cut=True), redact=lambda t: t.replace("hunter2", "[gone]"))
    assert "[gone]" in made["suggestions"][0]["evidence"][0]["words"]
    assert "hunter2" not in made["suggestions"][0]["evidence"][0]["words"]


def test_without_a_fault_the_traffic_has_a_name():
    assert report(talk(1), profile=Profile(name=""))["scenarios"][0]["name"] == UNNAMED


def test_the_page_opens_the_exchange_and_marks_the_cut(half):
    text = html.render(half)
    assert "✂ the stream was cut after event 2" in text
    assert '<details class="inv unknown s0" open>' in text
    assert '<details class="ex" id="i1e2" open>' in text
    assert 'href="#i1e1"' in text
    for absent in ('id="verdicts"', 'id="statistics"', 'class="ring"', ">answer<", 'for="v-fail"'):
        assert absent not in text


def test_the_terminal_and_markdown_have_no_score(half):
    screen = io.StringIO()
    Console(file=screen, width=200).print(terminal.render(half))
    for text in (screen.getvalue(), markdown.render(half)):
        assert "not judged" in text
        assert "2 exchanges (2 llm), 1 fault fired, exit code 0" in text
        assert "of 100" not in text
        assert "closing event" in text


def test_junit_has_no_case(half):
    assert "<testcase" not in junit.render(half)


def test_a_report_without_an_invocation_is_no_run_of_exec(half):
    assert not page.judged(half)
    assert page.judged({**half, "invocations": []})
    html.render({**half, "invocations": [], "suggestions": []})


def test_an_error_is_not_shown_as_words_of_the_model():
    failed = html.render(report(talk(1, status=503)))
    assert '<th scope="row">error</th><td>no</td>' in failed
    assert '<th scope="row">assistant</th>' not in failed
    whole = html.render(report(talk(1, answer="It is 391.")))
    assert '<th scope="row">assistant</th><td>It is 391.</td>' in whole
    assert '<th scope="row">error</th>' not in whole
