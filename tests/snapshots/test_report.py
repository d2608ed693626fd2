"""How the report of an earlier run is shown, and what is written of it for CI."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from tests.unit.report.conftest import play

from faultwire.report import json

TREND = ({"id": "a", "started_at": "2026-11-20T00:00:00+00:00", "score": 50.0, "gate": "fail", "seed": 42},)
WARNING = "line 3: `resilence` means nothing here"


@pytest.mark.parametrize("face", ["terminal", "md", "junit"])
def test_every_readable_face(face: str, snapshot: Callable[..., None], tmp_path: Path) -> None:
    about = {"planned": 3, "phase": "contract", "command": "contract", "warnings": (WARNING,)}
    document = play(before=play(answer_cut="391!"), trend=TREND, about=about)
    (tmp_path / "report.json").write_text(json.render(document))
    snapshot(f"report-{face}", "report", "./report.json", "--format", face)


def test_what_is_no_report(snapshot: Callable[..., None], tmp_path: Path) -> None:
    (tmp_path / "report.json").write_text('{"schema": "faultwire-report", "version": "99"}')
    snapshot("report-foreign", "report", "./report.json")
