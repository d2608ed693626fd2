"""Results over HTTP."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from starlette.exceptions import HTTPException
from starlette.responses import JSONResponse
from tests.unit.workbench.conftest import deck_at
from tests.unit.workbench.test_explored_view import DOCUMENT

from faultwire.workbench.analyses_api import AnalysisEndpoints


@pytest.fixture
def base(tmp_path: Path) -> Path:
    folder = tmp_path / "explore" / "0a1b-repro" / "1"
    folder.mkdir(parents=True)
    (tmp_path / "explore" / "0a1b.json").write_text(json.dumps(DOCUMENT))
    deck = deck_at(folder / "repro.tape")
    deck.exchange()
    deck.close()
    return tmp_path


def endpoints(base: Path | None, tape: Path) -> AnalysisEndpoints:
    subject: Any = SimpleNamespace(path=tape)
    return AnalysisEndpoints(subject, base, JSONResponse)


def request(query: dict[str, str] | None = None, **params: object) -> Any:
    return SimpleNamespace(
        path_params={"kind": "explore", "ident": "0a1b", **params}, query_params=query or {}
    )


def body(answer: Any) -> Any:
    return json.loads(answer.body)


def test_a_result_and_its_exchanges(base: Path) -> None:
    tape = base / "explore" / "0a1b-repro" / "1" / "repro.tape"
    there = endpoints(base, tape)
    assert body(asyncio.run(there.result(request())))["kind"] == "explore"
    found = body(asyncio.run(there.exchanges(request({"repro": "1"}))))
    assert ([row["number"] for row in found["rows"]], found["open"]) == ([1], True)
    elsewhere = endpoints(base, base / "other.tape")
    assert body(asyncio.run(elsewhere.exchanges(request({"repro": "1"}))))["open"] is False
    view = asyncio.run(there.exchange(request({"repro": "1", "session": "s"}, number=1)))
    assert b"391" in view.body


@pytest.mark.parametrize(
    ("query", "params", "status"),
    [
        ({}, {"ident": "ffff"}, 404), ({}, {"kind": "keys"}, 404), ({"repro": "2"}, {}, 404),
        ({"repro": "../1"}, {}, 400), ({"repro": "1" * 9}, {}, 400), ({"repro": "\u0661"}, {}, 400),
    ],
)  # fmt: skip
def test_nothing_else_is_given(
    base: Path, query: dict[str, str], params: dict[str, str], status: int
) -> None:
    with pytest.raises(HTTPException) as found:
        asyncio.run(endpoints(base, base / "t").exchanges(request(query, **params)))
    assert found.value.status_code == status


def test_of_a_tape_that_is_served_by_itself_there_are_none(base: Path) -> None:
    with pytest.raises(HTTPException):
        asyncio.run(endpoints(None, base / "t").result(request()))
