"""`faultwire ci`: every phase once, one number, and pages that lead to each other."""

from __future__ import annotations

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


def test_the_overall_score_weighs_the_phases_that_ran(project: Any) -> None:
    project.write(**SECTIONS)
    done = project.run("ci", env={"TALKER": "careless"})
    assert done.returncode == 1
    about = project.about()
    assert about["scores"] == {"mutation": 1.0, "chaos": 1.0, "contract": 0.75}
    assert about["score"] == pytest.approx((0.20 + 0.35 + 0.35 * 0.75) / 0.90)
    assert project.run("ci", "--min-score", "0.75", env={"TALKER": "careless"}).returncode == 0
    assert project.run("ci", "--min-score", "0.8", env={"TALKER": "careless"}).returncode == 1


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
def test_the_contract_meets_the_same_faults_alone_and_in_ci(project: Any) -> None:
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


def test_a_file_that_sets_up_nothing_is_told(project: Any) -> None:
    project.write(invariants=None)
    done = project.run("ci")
    assert done.returncode == 2, done.stdout + done.stderr
    assert "Traceback" not in done.stderr
