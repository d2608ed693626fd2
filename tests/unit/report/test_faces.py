import os
from pathlib import Path

import pytest

from faultwire.errors import UsageError
from faultwire.report import faces
from faultwire.report.schema import problems


@pytest.fixture(autouse=True)
def _here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize(
    ("face", "beginning"), [("html", "<!doctype html>"), ("json", "{"), ("junit", "<?xml"), ("md", "## ")]
)
def test_every_format_has_a_text_and_a_name(make_document, face, beginning):
    assert faces.render(make_document(), face).lstrip().startswith(beginning)
    assert faces.NAMES[face]


@pytest.mark.parametrize(
    ("name", "face", "expected"),
    [
        ("a.html", None, ("a.html", "html")),
        ("a.HTM", None, ("a.HTM", "html")),
        ("a.json", "json", ("a.json", "json")),
        ("a.xml", None, ("a.xml", "junit")),
        ("a.md", None, ("a.md", "md")),
        ("out", None, ("out/report.html", "html")),
        ("out/", "junit", ("out/junit.xml", "junit")),
        ("new/deep/a.md", None, ("new/deep/a.md", "md")),
        ("dotted.d", "md", ("dotted.d/report.md", "md")),
    ],
)
def test_the_target_of_a_report(tmp_path, name, face, expected):
    (tmp_path / "dotted.d").mkdir()
    found = faces.target(tmp_path / name, face)
    assert found == (tmp_path / expected[0], expected[1])
    assert found[0].parent.is_dir()
    assert not found[0].exists(), "nothing is written yet"


@pytest.mark.parametrize(
    ("name", "face"), [("a.pdf", None), ("a.html", "json"), ("a", "pdf"), ("a.tar.gz", None)]
)
def test_an_unknown_target_is_refused(tmp_path, name, face):
    with pytest.raises(UsageError) as caught:
        faces.target(tmp_path / name, face)
    assert caught.value.code == "usage.output"
    assert list(tmp_path.iterdir()) == []


def test_a_place_that_cannot_be_written_is_refused(tmp_path):
    (tmp_path / "file").write_text("kept")
    with pytest.raises(UsageError) as caught:
        faces.target(tmp_path / "file" / "a.html")
    assert caught.value.code == "usage.output"
    assert os.strerror(20) in caught.value.message or os.strerror(17) in caught.value.message
    (tmp_path / "there.html").mkdir()
    with pytest.raises(UsageError, match="found a folder at `there"):
        faces._tried(Path("there.html"), anywhere=False)
    with pytest.raises(UsageError, match="is outside"):
        faces.target(tmp_path.parent / "a.html")
    assert faces.target(tmp_path.parent / "a.html", anywhere=True)


def test_what_stands_there_is_kept_until_it_is_replaced(tmp_path):
    (tmp_path / "a.html").write_text("old")
    faces.target(tmp_path / "a.html")
    assert (tmp_path / "a.html").read_text() == "old"


NEVER = {
    "invariant": "copes",
    "severity": "critical",
    "when": "tool_faults_active",
    "why": "the critical invariant `copes` is judged nowhere",
    "hint": "add `{name: tools-down, profile: tool_outage}`",
    "cells": 0,
}


def never_judged(document, **changes):
    document["score"] |= {"gate": "unknown", "unjudged": [NEVER | changes]}
    return document


@pytest.mark.parametrize("face", ["html", "json", "junit", "md"])
def test_every_format_lists_never_judged_invariants(make_document, face):
    text = faces.render(never_judged(make_document()), face)
    plain = text.replace("<code>", "`").replace("</code>", "`").replace("'", "`")
    assert "copes` is judged nowhere" in plain
    assert "profile: tool_outage" in plain
    assert "judged nowhere" not in faces.render(make_document(), face)  # the control


def test_reports_that_say_nothing_of_it_are_still_read(make_document):
    document = make_document()
    del document["score"]["unjudged"]
    assert problems(document) == []
    for face in faces.NAMES:
        assert faces.render(document, face)


def test_a_run_without_any_verdict_has_no_score_in_words(make_document):
    document = make_document()
    document["score"] |= {"value": None, "number": None, "gate": "unknown"}
    text = faces.render(document, "md")
    assert "**no score** (resilience score, 6 of 6 cells judged) ·" in text
    assert "of 100" not in text.partition("### ")[0]
