from __future__ import annotations

import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from tests.unit.checks.conftest import talk
from tests.unit.cli.test_summary import exchange

from faultwire.cli._observed import MOCKED, Ended, write_report
from faultwire.events import History
from faultwire.profile.model import Profile
from faultwire.report.load import load
from faultwire.runner.folder import RunFolder

ENDED = Ended("node", 0, "2026-11-22T08:00:00+00:00", 0.5)


@pytest.fixture
def run(tmp_path: Path) -> Any:
    """As much of a run as a report needs; nothing fired, so its tape is not opened."""
    folder = RunFolder.create("exec", base=tmp_path / ".faultwire")
    return SimpleNamespace(folder=folder, tape=folder.tape, routes={})


def write(run: Any) -> tuple[Path | None, dict[str, Any]]:
    history = History("exec", (exchange(1),))
    return write_report(
        run, Profile(name="inline"), 7, history, ENDED, ledger="ab", notes=["a note"], rules={}
    )


def test_both_files_are_in_the_runs_folder_and_can_be_read_back(run: Any) -> None:
    page, made = write(run)
    assert page == run.folder.path / "report.html"
    assert page.stat().st_mode & 0o777 == 0o600
    assert load(run.folder.path) == json.loads(json.dumps(made))
    assert made["run"]["notes"] == ["a note"]
    assert (made["run"]["id"], made["run"]["seed"]) == (run.folder.id, 7)


def test_an_unwritable_report_is_an_error_that_names_what_is_left(
    run: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    (run.folder.path / ".report.json.draft").mkdir()
    page, made = write(run)
    assert page is None
    assert made["invocations"]
    lines = capsys.readouterr().err.splitlines()
    assert lines[0] == "run.report: cannot write the report: Is a directory, expected room for it (exit 3)"
    assert lines[1].startswith("hint: free disk space; the tape is whole")


@pytest.mark.parametrize(
    ("routes", "exchanges", "expected"),
    [
        ({"api.openai.com": "x"}, (talk(1),), [MOCKED]),
        ({"api.openai.com": "x"}, (talk(1, host="gateway.test"),), []),
        ({"api.openai.com": "x"}, (talk(1, status=503),), []),
        ({}, (talk(1),), []),
    ],
    ids=["mocked", "another host", "no price", "real"],
)
def test_dollars_for_answers_of_the_mock_are_said_to_be_none(
    run: Any, routes: dict[str, str], exchanges: tuple[Any, ...], expected: list[str]
) -> None:
    run.routes = routes
    history = History("exec", exchanges)
    _, made = write_report(run, Profile(name="x"), 7, history, ENDED, ledger="ab", notes=[], rules={})
    assert made["run"]["notes"] == expected
