"""Reports of runs over HTTP: only those, and without any script."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from starlette.exceptions import HTTPException
from starlette.responses import JSONResponse

from faultwire.workbench.after import POLICY
from faultwire.workbench.after_api import AfterEndpoints


@pytest.fixture
def endpoints(tmp_path: Path) -> AfterEndpoints:
    run = tmp_path / "runs" / "r1"
    run.mkdir(parents=True)
    (run / "run.json").write_text(json.dumps({"command": "run", "status": "finished"}))
    (run / "report.html").write_text("<script>alert(1)</script>")
    subject: Any = SimpleNamespace(index=SimpleNamespace(recorded=[]))
    return AfterEndpoints(subject, tmp_path, JSONResponse)


def request(**params: str) -> Any:
    return SimpleNamespace(path_params=params)


def test_a_report_is_given_in_a_sandbox(endpoints: AfterEndpoints) -> None:
    answer = asyncio.run(endpoints.report(request(ident="r1", name="report.html")))
    assert answer.headers["content-security-policy"] == POLICY
    assert "sandbox" in POLICY
    assert "script-src" not in POLICY
    assert POLICY.startswith("default-src 'none'")


@pytest.mark.parametrize(
    "params", [{"ident": "r1", "name": "run.json"}, {"ident": "..", "name": "report.html"}]
)
def test_nothing_else_is(endpoints: AfterEndpoints, params: dict) -> None:
    with pytest.raises(HTTPException):
        asyncio.run(endpoints.report(request(**params)))
    with pytest.raises(HTTPException):
        asyncio.run(endpoints.comparison(request(ident="r9")))
