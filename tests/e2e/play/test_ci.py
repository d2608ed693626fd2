"""`faultwire ci`: every phase once, one number, and pages that lead to each other."""

from __future__ import annotations

import json
import re
from collections import Counter
from typing import Any

import pytest

from faultwire.contract.overall import PHASES
from faultwire.tape.read.reader import TapeReader

CONTRACT = {
    "name": "rules",
    "invariants": [
        {"type": "completes"},
        {"type": "excludes_pattern", "id": "no-guess", "patterns": ["Surely"]},
    ],
    "chaos_matrix": [{"name": "calm"}, {"name": "down", "faults": [{"status": {"code": 503}}]}],
}
SECTIONS: dict[str, Any] = {
    "mutations": {"count": 2, "types": ["noise", "tone_shift"]},
    "chaos": {"llm_faults": [{"mode": "rate_limit"}]},
    "contract": CONTRACT,
}


def test_every_phase_is_played_exactly_once(project: Any) -> None:
    project.write(**SECTIONS)
    done = project.run("ci")
    assert done.returncode == 0, done.stdout + done.stderr
    with TapeReader.open(project.runs[-1] / "run.tape") as tape:
        played = Counter(session.name.split("/")[0] for session in tape.sessions())
    assert played == {"mutation": 2 + 4, "chaos": 4, "contract": 4}


@pytest.mark.nightly
def test_the_overall_score_weighs_the_phases_that_ran(project: Any) -> None:
    project.write(**SECTIONS)
    done = project.run("ci", env={"TALKER": "careless"})
    assert done.returncode == 1
    about = project.about()
    assert about["scores"] == {"mutation": 1.0, "chaos": 1.0, "contract": 0.5}
    assert about["score"] == pytest.approx((0.20 + 0.35 + 0.35 * 0.5) / 0.90)
    assert project.run("ci", "--min-score", "0.5", env={"TALKER": "careless"}).returncode == 0
    assert spoken(project) == {"pass"}
    assert project.run("ci", "--min-score", "0.6", env={"TALKER": "careless"}).returncode == 1
    assert spoken(project) == {"fail"}


def spoken(project: Any) -> set[str]:
    """The verdict of the last run in every place that says one."""
    folder = project.runs[-1]
    said = {project.about()["gate"], json.loads((folder / "report.json").read_text())["gate"]}
    heading = (folder / "report.md").read_text().splitlines()[0]
    said.add("pass" if heading.endswith("passed") else "fail" if heading.endswith("failed") else heading)
    page = (folder / "report.html").read_text()
    (shown,) = re.findall(r'<dt>verdict</dt><dd><span class="chip (\w+)"', page)
    said.add(shown)
    said.add("fail" if "<failure" in (folder / "junit.xml").read_text() else "pass")
    (row,) = [line for line in project.run("runs").stdout.splitlines() if line.startswith(folder.name)]
    said.add(row.split()[-1])
    return said


@pytest.mark.nightly
def test_the_summary_leads_to_every_report(project: Any) -> None:
    project.write(**SECTIONS)
    project.run("ci", "-o", "reports/")
    for folder in (project.runs[-1], project.folder / "reports"):
        page = (folder / "report.html").read_text()
        for phase in ("mutation", "chaos", "contract"):
            assert f'href="./{phase}.html"' in page
            assert (folder / f"{phase}.html").is_file()
    assert "no `replays`" in (project.runs[-1] / "report.html").read_text().replace("<code>", "`").replace(
        "</code>", "`"
    )


@pytest.mark.nightly
def test_one_report_of_several_is_chosen_by_phase(project: Any) -> None:
    project.write(**SECTIONS)
    project.run("ci")
    every = project.run("report", "last")
    assert every.returncode == 0, every.stderr
    assert [line for line in every.stdout.splitlines() if line in PHASES] == ["mutation", "chaos", "contract"]
    page = (project.runs[-1] / "report.md").read_text()
    assert project.run("report", "last", "--format", "md").stdout.strip() == page.strip()
    vague = project.run("report", "last", "-o", "one.html")
    assert vague.returncode == 2
    assert "--phase" in vague.stderr
    assert "no-guess" in project.run("report", "last", "--phase", "contract").stdout
    assert project.run("report", "last", "--phase", "replay").returncode == 2


@pytest.mark.nightly
def test_the_contract_gets_the_same_faults_alone_and_in_ci(project: Any) -> None:
    flaky = {"name": "flaky", "faults": [{"status": {"code": 503}, "trigger": {"probability": 0.5}}]}
    project.write(**{**SECTIONS, "contract": {**CONTRACT, "chaos_matrix": [{"name": "calm"}, flaky]}})
    careless = {"TALKER": "careless"}
    project.run("ci", "--repeat", "4", env=careless)
    in_ci = verdicts(project.document("contract"))
    project.run("contract", "run", "--repeat", "4", env=careless)
    assert verdicts(project.document()) == in_ci
    assert set(in_ci.values()) > {"pass"}


def verdicts(document: dict[str, Any]) -> dict[str, str]:
    return {f"{c['invocation']}:{c['invariant']}": c["verdict"] for c in document["cells"]}


def test_a_file_that_sets_up_nothing_is_reported(project: Any) -> None:
    project.write(invariants=None)
    done = project.run("ci")
    assert done.returncode == 2, done.stdout + done.stderr
    assert "Traceback" not in done.stderr
