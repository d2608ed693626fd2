"""`runs list`, `report` and `score` on folders of earlier runs."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from faultwire.cli import main
from faultwire.contract.matrix import Matrix
from faultwire.report.document import Subject, document


@pytest.fixture
def base(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path / ".faultwire" / "runs"


def kept(base: Path, name: str, **about: Any) -> Path:
    folder = base / name
    folder.mkdir(parents=True)
    said = {"command": "run", "status": "finished", "started_at": name, "seed": 42, "score": 0.5} | about
    (folder / "run.json").write_text(json.dumps(said))
    return folder


def faultwire(*arguments: str) -> Result:
    return CliRunner().invoke(main, arguments)


def test_runs_are_listed_for_people_and_programs(base: Path) -> None:
    kept(base, "r1", gate="pass")
    kept(base, "r2", status="void", score=None, command="\x1b[31mevil")
    said = faultwire("runs", "list")
    assert said.exit_code == 0
    assert said.stdout.splitlines()[1].split() == ["r1", "run", "finished", "42", "0.5000", "pass"]
    assert "\x1b" not in said.stdout
    assert [run["id"] for run in json.loads(faultwire("runs", "list", "--format", "json").stdout)] == [
        "r1",
        "r2",
    ]
    assert "r1" not in faultwire("runs", "list", "-n", "1").stdout
    assert "r2" not in faultwire("runs", "list", "--command", "run").stdout


def test_an_empty_list_of_runs_is_reported(base: Path) -> None:
    assert faultwire("runs", "list").stdout == "no runs below .faultwire/runs\n"


def test_the_score_of_a_run_that_finished(base: Path) -> None:
    kept(base, "r1", score=0.97531)
    kept(base, "r2", status="interrupted")
    kept(base, "r3", score=None)
    assert faultwire("score", "r1").stdout == "0.9753\n"
    assert faultwire("score", "r3").stdout == "none\n"
    said = faultwire("score", "r2")
    assert said.exit_code == 2
    assert "interrupted" in said.stderr


def test_a_missing_report_is_reported(base: Path) -> None:
    kept(base, "r1")
    said = faultwire("report", "r1")
    assert said.exit_code == 2
    assert "Traceback" not in said.stderr


def test_the_only_report_is_not_shown_for_another_phase(base: Path) -> None:
    folder = kept(base, "r1", command="contract")
    about = Subject("r1", "contract", "agent", 42, 1, "2026-01-01", 0.0, "0" * 64, phase="contract")
    made = document(about, (), (), (), Matrix(()), (), redact=str)
    (folder / "report.json").write_text(json.dumps(made))
    assert faultwire("report", "r1", "--phase", "contract", "--format", "json").exit_code == 0
    said = faultwire("report", "r1", "--phase", "chaos")
    assert said.exit_code == 2
    assert "expected `contract`, the only one" in said.stderr


@pytest.mark.parametrize(
    ("output", "written"),
    [
        ("out/", ["contract.html", "mutation.html", "report.html"]),
        ("out/one.md", ["contract.md", "mutation.md", "one.md"]),
        ("out/results.xml", ["results.xml"]),
    ],
)
def test_a_file_of_several_reports_is_the_one_over_them_with_theirs_beside_it(
    base: Path, output: str, written: list[str]
) -> None:
    folder = kept(base, "r1", command="ci")
    for phase in ("contract", "mutation"):
        for suffix in ("json", "html", "md", "xml"):
            (folder / f"{phase}.{suffix}").write_text(f"{phase} {suffix}")
    for name in ("report.html", "report.md", "junit.xml"):
        (folder / name).write_text(f"all of it in {name}")
    Path("out").mkdir()
    said = faultwire("report", "r1", "-o", output)
    assert said.exit_code == 0, said.stderr
    assert sorted(path.name for path in Path("out").iterdir()) == written
    assert sorted(Path(line).name for line in said.stdout.splitlines()) == written
    assert Path(said.stdout.splitlines()[0]).read_text().startswith("all of it in ")
    assert "no phase `chaos`" in faultwire("report", "r1", "--phase", "chaos", "-o", output).stderr


def test_of_several_reports_all_are_shown_or_the_page_over_them(base: Path) -> None:
    folder = kept(base, "r1", command="ci")
    for phase in ("contract", "mutation"):
        about = Subject("r1", "ci", "agent", 42, 1, "2026-01-01", 0.0, "0" * 64, phase=phase)
        made = document(about, (), (), (), Matrix(()), (), redact=str)
        (folder / f"{phase}.json").write_text(json.dumps(made))
    told = faultwire("report", "r1").stdout
    assert [line for line in told.splitlines() if line in ("contract", "mutation")] == [
        "mutation",
        "contract",
    ]
    assert told.count("score") == 2
    assert faultwire("report", "r1", "--format", "md").exit_code == 2, "the run wrote none"
    (folder / "report.md").write_text("## all of it\n")
    assert faultwire("report", "r1", "--format", "md").stdout == "## all of it\n"


def test_a_run_without_a_report_names_its_command(base: Path) -> None:
    kept(base, "r1", command="exec")
    said = faultwire("report", "last")
    assert said.exit_code == 2
    assert said.stderr.startswith("report.missing: found no report in `r1`, a run of `exec` with the status ")
