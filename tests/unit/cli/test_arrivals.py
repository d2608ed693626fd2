"""faultwire.cli._arrivals: the calls that `doctor` saw arrive, and the run before."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from faultwire.cli._arrivals import arrivals, last_run
from faultwire.cli._findings import Finding
from faultwire.events import Delivery, History, Recorded, Request


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def recorded(number: int, host: str, **more: object) -> Recorded:
    settings: dict[str, object] = {
        "session": "doctor", "number": number, "kind": "other", "protocol": None, "provider": None,
        "tool": None, "request": Request("GET", "http", host, 80, "/"), "upstream": None, "delivered": None,
        "ending": "complete", "error": None, "attempt": 0, "started_ms": 0, "duration_ms": 1.0, **more,
    }  # fmt: skip
    return Recorded(**settings)  # type: ignore[arg-type]


def fine(number: int, host: str) -> Recorded:
    return recorded(number, host, delivered=Delivery(200, "", (), b""))


def test_arrivals_are_counted_by_server_and_refusals_are_failures() -> None:
    refused = recorded(3, "b", ending="refused", error="why")
    findings = arrivals(History("doctor", (fine(1, "a"), fine(2, "a"), refused)))
    assert [(finding.state, finding.text) for finding in findings] == [
        ("ok", "http://a:80: 2 other"),
        ("ok", "http://b:80: 1 other"),
        ("fail", "refused 1 call to b:80: why"),
    ]


def test_calls_that_failed_are_a_note() -> None:
    bad = [
        recorded(n, "a", delivered=Delivery(code, "", (), b"")) for n, code in ((1, 401), (2, 401), (3, 200))
    ]
    gone = recorded(4, "a", delivered=None, ending="upstream_aborted", error="`a` was not reached: no route")
    (finding,) = arrivals(History("doctor", (*bad, gone)))
    assert (finding.state, finding.text) == (
        "note",
        "http://a:80: 4 other, of which 3 failed: status 401 (2 times), `a` was not reached: no route",
    )
    assert finding.hint is not None
    (good,) = arrivals(History("doctor", (bad[2],)))
    assert good == Finding("ok", "traffic", "http://a:80: 1 other")


def test_of_many_kinds_of_failure_three_are_named() -> None:
    bad = [recorded(code, "a", delivered=Delivery(code, "", (), b"")) for code in (400, 401, 403, 404, 500)]
    (finding,) = arrivals(History("doctor", tuple(bad)))
    assert finding.text.endswith("5 failed: status 400, status 401, status 403 and 2 others")


@pytest.mark.parametrize("statuses", [["finished"], ["void", "finished"], []])
def test_a_run_that_ended_well_has_no_finding(statuses: list[str], here: Path) -> None:
    ran(here, statuses)
    assert last_run() == []


def test_a_last_run_that_proved_nothing_is_a_note(here: Path) -> None:
    ran(here, ["finished", "void"])
    (finding,) = last_run()
    assert (finding.state, finding.text) == ("note", "`run1` (`exec`) is inconclusive: run.void")


def ran(here: Path, statuses: list[str]) -> None:
    for number, status in enumerate(statuses):
        folder = here / ".faultwire" / "runs" / f"run{number}"
        folder.mkdir(parents=True)
        about = {"command": "exec", "status": status, "started_at": f"2026-11-2{number}T00:00:00Z"}
        (folder / "run.json").write_text(
            json.dumps(about | ({"error": "run.void"} if status == "void" else {}))
        )
