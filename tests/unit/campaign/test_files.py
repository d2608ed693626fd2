"""The files of a run of several phases, and what is added to them after its end."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tests.unit.report.conftest import play
from tests.unit.report.test_explained import ROW
from tests.unit.report.test_summary import make as summarised

from faultwire.campaign.ci_run import Result
from faultwire.campaign.explained import explained
from faultwire.campaign.files import written
from faultwire.runner.folder import RunFolder
from faultwire.runner.gate import Gate
from faultwire.runner.scored import Summary

ALL = {"report.html", "report.json", "report.md", "junit.xml"}
OF_PHASE = {"contract.html", "contract.json", "contract.md", "contract.xml"}


def test_a_run_of_one_report_has_one_of_each_format(tmp_path: Path) -> None:
    page = written(RunFolder(tmp_path), {"contract": play()}, None)
    assert page.name == "report.html"
    assert {file.name for file in tmp_path.iterdir()} == ALL


def test_a_run_of_phases_has_one_for_each_and_one_over_all(tmp_path: Path) -> None:
    written(RunFolder(tmp_path), {"contract": play()}, summarised())
    assert {file.name for file in tmp_path.iterdir()} == ALL | OF_PHASE


def result(folder: Path) -> Result:
    documents: dict[str, dict[str, Any]] = {"contract": play(), "chaos": play()}
    written(RunFolder(folder), documents, summarised())
    gate = Gate(1, "fail")
    return Result(documents, summarised(), Summary((), 0.5), gate, folder, folder / "report.html", folder)


def test_what_is_found_stands_in_its_phase_and_over_all_and_changes_no_verdict(tmp_path: Path) -> None:
    before = result(tmp_path)
    after = explained(before, [ROW])
    assert (after.gate, after.scores) == (before.gate, before.scores)
    there = {file.name for file in tmp_path.iterdir() if "makes the failure" in file.read_text()}
    over_all = {"report.html", "report.json", "report.md", "junit.xml"}
    assert there == over_all | OF_PHASE, "and not in chaos"


def test_nothing_found_is_nothing_shown(tmp_path: Path) -> None:
    explained(result(tmp_path), [])
    assert not [file for file in tmp_path.iterdir() if "Why it failed" in file.read_text()]
