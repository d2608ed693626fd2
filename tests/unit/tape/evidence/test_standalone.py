from __future__ import annotations

import ast
import sys
from pathlib import Path

import pytest

from faultwire.errors import UsageError
from faultwire.tape.evidence import standalone
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


def test_the_errors_name_the_file_the_code_and_the_way_out(tmp_path: Path) -> None:
    (tmp_path / NAME).write_text("mine")
    with pytest.raises(UsageError) as caught:
        place(tmp_path)
    error = caught.value
    assert (error.message, error.code, error.hint) == (
        f"found another file at `{tmp_path / NAME}`",
        "usage.output",
        "name another folder in `-o`",
    )
    target = tmp_path / "none" / NAME
    with pytest.raises(UsageError) as caught:
        place(target.parent)
    assert (caught.value.message, caught.value.code) == (
        f"cannot write `{target}`: No such file or directory",
        "usage.output",
    )


def test_it_is_placed_below_the_working_folder_unless_the_user_says_where(tmp_path: Path) -> None:
    below, beside = tmp_path / "below", tmp_path / "beside"
    for folder in (below, beside):
        folder.mkdir()
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(below)
        with pytest.raises(UsageError):
            place(beside)
        assert not (beside / NAME).exists()
        assert place(beside, anywhere=True).read_bytes() == script().read_bytes()


def test_the_script_of_a_checkout_is_the_one_in_its_documentation() -> None:
    assert script() == Path(__file__).parents[4] / "docs" / NAME


def test_the_script_of_an_installed_package_is_inside_of_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        standalone, "__file__", str(tmp_path / "x/site/faultwire/tape/evidence/standalone.py")
    )
    assert script() == tmp_path / "x/site/faultwire" / "_data" / "verify_tape.py"
