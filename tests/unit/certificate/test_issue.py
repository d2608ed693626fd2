"""What a certificate is made from, and what cannot be certified.

Modules: `faultwire.certificate.issue`, `faultwire.certificate.evidence`, `faultwire.certificate.statement`.
"""

from __future__ import annotations

import json
import platform
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path
from typing import Any

import pytest
from tests.unit.certificate.conftest import SIGNER, about, record
from tests.unit.report.conftest import play

from faultwire._core import __version__
from faultwire.certificate import evidence, sections, shape, statement
from faultwire.certificate.issue import issue
from faultwire.certificate.keys import ProjectSigner
from faultwire.errors import FaultwireError, TapeTampered, UsageError
from faultwire.tape.evidence.verify import verify

TRUSTED = (SIGNER.verifier,)


def made(folder: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(issue(folder, ProjectSigner(SIGNER), TRUSTED).payload)
    return found


def edit(file: Path, change: Callable[[dict[str, Any]], object]) -> None:
    found = json.loads(file.read_text())
    change(found)
    file.write_text(json.dumps(found))


def test_the_statement_is_what_the_run_left(run_folder: Path) -> None:
    report = json.loads((run_folder / "report.json").read_text())
    found = made(run_folder)
    assert found["_type"] == "https://in-toto.io/Statement/v1"
    assert found["subject"] == [
        {"name": "agent", "digest": {"sha256": "a" * 64}},
        {"name": "agent.py", "digest": {"sha256": "d" * 64}},
        {"name": "commit", "digest": {"gitCommit": "e" * 40}},
    ]
    what = found["predicate"]
    assert what["verdict"] == "fail"
    (phase,) = what["phases"]
    assert (phase["name"], phase["verdict"]) == ("contract", report["score"]["gate"])
    cells = report["score"]["cells"]
    assert phase["cells"] == {"passed": cells["pass"], "failed": cells["fail"], "unknown": cells["unknown"]}
    rates = {row["scenario"]: row for row in report["statistics"]["scenarios"]}
    for scenario in phase["scenarios"]:
        row = rates[scenario["name"]]
        assert [scenario["rate"][k] for k in ("passed", "total", "low", "high")] == [
            row[k] for k in ("passed", "total", "low", "high")
        ]
    assert [s["name"] for s in phase["scenarios"]] == ["calm", "stream_chaos"]
    assert phase["scenarios"][1]["faults"][0]["fired"] == 1
    (tape,) = what["evidence"]["tapes"]
    assert (tape["name"], tape["grade"]) == ("run.tape", "AUTHORITATIVE")
    assert tape["sealedBy"] == str(SIGNER.verifier)
    assert (
        what["evidence"]["ledger"] == report["run"]["ledger"] == evidence.ledger_of([run_folder / "run.tape"])
    )


def test_what_all_of_k_invocations_support_is_in_it(run_folder: Path) -> None:
    def repeated(report: dict[str, Any]) -> None:
        row = next(one for one in report["statistics"]["scenarios"] if one["scenario"] == "calm")
        row["pass_k"] = {"k": 3, "value": 0.8, "at_least": 0.41}

    edit(run_folder / "report.json", repeated)
    envelope = issue(run_folder, ProjectSigner(SIGNER), TRUSTED)
    calm, chaos = json.loads(envelope.payload)["predicate"]["phases"][0]["scenarios"]
    assert calm["allPass"] == {"k": 3, "value": 0.8, "atLeast": 0.41}
    assert chaos["allPass"] != calm["allPass"]
    rows = next(
        rows
        for title, _, rows in sections.sections(shape.Statement.model_validate_json(envelope.payload), None)
        if title == "Scenarios"
    )
    assert [row[4] for row in rows if row[1] == "calm"] == ["k = 3: at least 41%"]


def test_all_that_the_run_was_made_of_is_in_it(run_folder: Path) -> None:
    parts = {"image shop/agent": "1" * 64, "uv.lock": "2" * 64}
    (run_folder / "run.json").write_text(json.dumps(about(artefacts=parts)))
    found = made(run_folder)
    named = {one["name"]: one["digest"].get("sha256") for one in found["subject"]}
    assert named["image shop/agent"] == "1" * 64
    assert named["uv.lock"] == "2" * 64
    what = found["predicate"]
    run = what["run"]
    assert (run["configuration"], run["agentSettings"], run["profiles"]) == ("c" * 64, "a" * 64, "b" * 64)
    assert (run["seed"], run["scoreFormula"]) == (42, "2")
    report = json.loads((run_folder / "report.json").read_text())
    digests = {one["name"]: one["digest"] for one in report["scenarios"]}
    (phase,) = what["phases"]
    assert {one["name"]: one["profileDigest"] for one in phase["scenarios"]} == digests
    assert what["tool"] == {
        "name": "faultwire",
        "version": __version__,
        "python": platform.python_version(),
        "mitmproxy": version("mitmproxy"),
        "platform": platform.platform(),
    }
    tape = verify(run_folder / "run.tape", TRUSTED)
    assert what["evidence"]["tapes"][0]["root"] == tape.root
    assert what["log"] is None


def test_what_was_not_tested_is_named(run_folder: Path) -> None:
    def never_fired(report: dict[str, Any]) -> None:
        outcome = report["scenarios"][1]["entries"][0]["outcome"]
        outcome |= {"fired": 0, "invocations": 0, "unfired": ["no call matched"]}
        report["run"]["partial"] = True
        report["score"]["cells"]["unknown"] = 2
        report["score"]["unjudged"] = [
            {
                "invariant": "says_391",
                "severity": "critical",
                "when": "always",
                "why": "no tool was called",
                "hint": "",
                "cells": 2,
            }
        ]

    before = made(run_folder)["predicate"]["notTested"]
    assert before == [
        "changed prompts: no such phase was run",
        "golden prompts under chaos: no such phase was run",
        "incident sessions: no such phase was run",
    ]
    edit(run_folder / "report.json", never_fired)
    found = made(run_folder)["predicate"]["notTested"]
    assert found[3:] == [
        "contract: not every planned invocation was played",
        "contract: 2 of 8 cells have no verdict",
        "contract: the critical invariant says_391 was never judged: no tool was called",
        "contract, stream_chaos: entry cut_stream never fired: no call matched",
    ]


def test_the_phases_of_a_run_are_all_in_it(run_folder: Path) -> None:
    text = (run_folder / "report.json").read_text()
    for name in ("contract", "chaos"):
        (run_folder / f"{name}.json").write_text(text)
        edit(run_folder / f"{name}.json", lambda report, name=name: report["run"].update(phase=name))
    what = made(run_folder)["predicate"]
    assert [phase["name"] for phase in what["phases"]] == ["chaos", "contract"]
    assert [file["name"] for file in what["evidence"]["reports"]] == ["chaos.json", "contract.json"]
    assert "golden prompts under chaos: no such phase was run" not in what["notTested"]


def test_several_tapes_give_one_ledger(tmp_path: Path) -> None:
    each = [record(tmp_path / f"{n}.tape") for n in range(2)]
    paths = [tmp_path / f"{n}.tape" for n in range(2)]
    assert evidence.ledger_of(paths[:1]) == each[0]
    assert evidence.ledger_of(paths) not in each


@pytest.mark.parametrize(
    ("changes", "problem"),
    [
        ({"status": "running"}, "found a run that is `running`"),
        ({"gate": None}, "judged nothing"),
        ({"artefacts": None}, "does not say what its agent was made of"),
        ({"seed": "42"}, "is not as a run of this version leaves it"),
        ({"agent_digest": None}, "is not as a run of this version leaves it"),
        ({"gate": "pass"}, "is not as a run of this version leaves it"),
    ],
    ids=["running", "unjudged", "older", "seed", "digest", "passed"],
)
def test_what_cannot_be_certified_is_refused(run_folder: Path, changes: dict[str, Any], problem: str) -> None:
    (run_folder / "run.json").write_text(json.dumps(about(**changes)))
    with pytest.raises(UsageError, match=problem) as caught:
        made(run_folder)
    assert caught.value.code == "certificate.run"


def test_a_run_without_cells_judged_nothing(run_folder: Path) -> None:
    report = json.loads((run_folder / "report.json").read_text())
    with pytest.raises(UsageError, match="judged nothing"):
        statement.statement(about(), [report | {"cells": []}], None, None, "now")  # type: ignore[arg-type]


@pytest.mark.parametrize("text", ["", "[]", "[" * 70_000, "\xff"])
def test_a_run_json_that_is_none_is_refused(run_folder: Path, text: str) -> None:
    (run_folder / "run.json").write_text(text)
    with pytest.raises(UsageError, match=r"run\.json"):
        made(run_folder)


def test_a_tape_that_was_changed_is_refused(run_folder: Path) -> None:
    tape = run_folder / "run.tape"
    tape.chmod(0o600)
    data = tape.read_bytes()
    assert b'"profile":"calm"' in data
    tape.write_bytes(data.replace(b'"profile":"calm"', b'"profile":"cold"'))
    with pytest.raises(FaultwireError, match=r"`run\.tape` does not verify"):
        made(run_folder)


def test_a_report_of_other_traffic_is_refused(run_folder: Path) -> None:
    edit(run_folder / "report.json", lambda report: report["run"].update(ledger="0" * 64))
    with pytest.raises(TapeTampered, match="its reports name others"):
        made(run_folder)


def test_a_run_without_a_tape_is_refused(run_folder: Path) -> None:
    edit(run_folder / "report.json", lambda report: report["run"].update(tapes=[]))
    with pytest.raises(UsageError, match="without a tape"):
        made(run_folder)


def test_a_document_as_reports_are(run_folder: Path) -> None:
    """The control of the fixture: its report is one that `report` reads."""
    assert json.loads((run_folder / "report.json").read_text())["schema"] == play()["schema"]
