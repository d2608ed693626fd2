from __future__ import annotations

import ast
import sys
from pathlib import Path

import pytest

from faultwire.errors import UsageError
from faultwire.tape.evidence.standalone import NAME, place, script


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def test_the_script_needs_nothing_but_python() -> None:
    found = {
        name.split(".")[0]
        for node in ast.walk(ast.parse(script().read_text()))
        for name in (
            [alias.name for alias in node.names]
            if isinstance(node, ast.Import)
            else [node.module or ""]
            if isinstance(node, ast.ImportFrom)
            else []
        )
    }
    assert found <= sys.stdlib_module_names


def test_it_is_placed_once_and_never_over_another_file(tmp_path: Path) -> None:
    target = place(tmp_path)
    assert target == tmp_path / NAME
    assert target.read_bytes() == script().read_bytes()
    assert place(tmp_path) == target
    target.write_text("mine")
    with pytest.raises(UsageError) as caught:
        place(tmp_path)
    assert caught.value.code == "usage.output"
    assert target.read_text() == "mine"


def test_a_folder_that_is_not_there_is_reported(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="cannot write"):
        place(tmp_path / "none")
