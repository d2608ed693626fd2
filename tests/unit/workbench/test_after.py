"""Earlier runs, and two tapes call by call."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from tests.unit.workbench.conftest import CUT, answered, asked, deck_at

from faultwire.tape.read.reader import TapeReader
from faultwire.workbench.after import analyses, analysis_of, compared, pairs, past, report_of


def taped(path: Path, *answers: bytes, faults=(), session: str = "s") -> list:
    deck = deck_at(path)
    for number, answer in enumerate(answers):
        text = f"number {number}"
        deck.exchange(asked(text), answer, key=f"k{number}", session=session, faults=faults)
    with TapeReader.open(deck.close()) as reader:
        found = list(reader.exchanges(session))
        for one in found:
            assert one.delivered is not None
            assert one.delivered.body  # read while the tape is open
    return found


def test_the_run_whose_tape_is_shown_is_marked_and_no_other(base: Path) -> None:
    tape = base / "runs" / "20261128T000000Z-aaaaaaaa" / "run.tape"
    tape.write_bytes(b"")
    elsewhere = base.parent / "link.tape"
    elsewhere.symlink_to(tape)
    assert [one["here"] for one in past(base, tape)] == [True]
    assert [one["here"] for one in past(base, elsewhere)] == [True], "one file by another name"
    copy = base.parent / "copy.tape"
    copy.write_bytes(b"")
    assert [one["here"] for one in past(base, copy)] == [False]
    assert [one["here"] for one in past(base)] == [False]
    assert [one["here"] for one in past(base, base / "gone.tape")] == [False]


def test_calls_are_paired_by_what_they_ask(tmp_path: Path) -> None:
    one = taped(tmp_path / "1.tape", answered("a"), answered("b"), answered("c"))
    other = taped(tmp_path / "2.tape", answered("a"), answered("B"))
    found = [line["difference"] for line in pairs(one, other)]
    assert found == [None, "another answer", "only here"]
    assert [line["difference"] for line in pairs(other, one)][-1] == "only in the other"
    assert [line["difference"] for line in pairs(one, one)] == [None, None, None]


def test_one_session_is_compared_with_one_of_another_name(tmp_path: Path) -> None:
    one = taped(tmp_path / "1.tape", answered("a"))
    other = taped(tmp_path / "2.tape", answered("a"), session="exec")
    assert [line["difference"] for line in pairs(one, other)] == [None]


def test_faults_that_fired_stand_beside_what_differs(tmp_path: Path) -> None:
    one = taped(tmp_path / "1.tape", answered("a"), faults=(CUT,))
    (line,) = pairs(one, taped(tmp_path / "2.tape", answered("x")))
    assert line["one"]["fired"] == ["cut"]
    assert line["one"]["gist"] == "a"


@pytest.fixture
def base(tmp_path: Path) -> Path:
    run = tmp_path / ".faultwire" / "runs" / "20261128T000000Z-aaaaaaaa"
    run.mkdir(parents=True)
    (run / "run.json").write_text(json.dumps({"command": "run\x1b[31m", "status": "finished", "score": 0.5}))
    (run / "report.html").write_text("<p>the report")
    (run / "secret.txt").write_text("no report")
    (tmp_path / "outside.html").write_text("outside")
    (run / "link.html").symlink_to(tmp_path / "outside.html")
    return tmp_path / ".faultwire"


def test_runs_are_listed_with_their_reports_and_inert(base: Path) -> None:
    (run,) = past(base)
    assert run["score"] == 0.5
    assert "report.html" in run["reports"]
    assert "\x1b" not in run["command"]
    assert run["tape"] is False


@pytest.mark.parametrize(
    "name", ["secret.txt", "../../../outside.html", "..%2foutside.html", "link.html", "none.html"]
)
def test_only_reports_of_a_run_are_given(base: Path, name: str) -> None:
    ident = "20261128T000000Z-aaaaaaaa"
    assert report_of(base, ident, "report.html") == b"<p>the report"
    assert report_of(base, ident, name) is None
    assert report_of(base, "..", "report.html") is None


def test_a_comparison_says_how_much_is_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    one = taped(tmp_path / "1.tape", answered("a"), answered("b"))
    taped(tmp_path / "2.tape", answered("a"), answered("c"))
    found = compared(one, str(tmp_path / "2.tape"))
    assert (found["same"], found["different"]) == (1, 1)


@pytest.fixture
def blamed(tmp_path: Path) -> Path:
    for ident in ("0a1b", "ffff"):
        folder = tmp_path / "blame" / ident
        folder.mkdir(parents=True)
        (folder / "blame.html").write_text(f"page of {ident}")
        (folder / "blame.json").write_text("{}")
    os.utime(tmp_path / "blame" / "0a1b" / "blame.html", (2_000_000_000, 2_000_000_000))
    (tmp_path / "blame" / "0a1b.jsonl").write_text("")
    return tmp_path


def test_pages_of_analyses_are_listed_and_given_the_newest_first(blamed: Path) -> None:
    found = analyses(blamed)
    assert [(one["kind"], one["id"], one["name"]) for one in found] == [
        ("blame", "0a1b", "blame.html"), ("blame", "ffff", "blame.html"),
    ]  # fmt: skip
    assert found[0]["written_at"].startswith("2033-05-18")
    assert analysis_of(blamed, "blame", "ffff", "blame.html") == b"page of ffff"
    assert analyses(blamed / "elsewhere") == []


@pytest.mark.parametrize(
    ("kind", "ident", "name"),
    [
        ("blame", "ffff", "blame.json"), ("blame", "..", "blame.html"), ("keys", "ffff", "blame.html"),
        ("blame", "ffff", "link.html"), ("blame", "eeee", "blame.html"), ("..", "blame", "blame.html"),
    ],
)  # fmt: skip
def test_nothing_else_is_given_as_an_analysis(blamed: Path, kind: str, ident: str, name: str) -> None:
    (blamed / "blame" / "ffff" / "link.html").symlink_to("/etc/hostname")
    assert analysis_of(blamed, kind, ident, name) is None
    assert not any(one["name"] == "link.html" for one in analyses(blamed))
