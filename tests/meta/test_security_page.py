"""Every promise of `docs/explanation/security.md` names a test that is there, and that asserts something."""

from __future__ import annotations

import ast
import re
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "explanation" / "security.md"
NAMED = re.compile(r"`(tests/[\w/]+\.py)(?:::(\w+))?`")
CONTROL = re.compile(r"`(test_\w+)`")
TITLE = re.compile(r"^- \*\*(.+?)\.\*\*", re.MULTILINE)


def section(text: str, title: str) -> str:
    return text.partition(f"## {title}\n")[2].partition("\n## ")[0]


def rows(text: str) -> list[list[str]]:
    lines = [line for line in text.splitlines() if line.startswith("| ")]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines[1:]]


@cache
def functions(path: str) -> dict[str, ast.AST]:
    """Those of a file by name."""
    tree = ast.parse((ROOT / path).read_text())
    return {
        node.name: node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    }


def asserts(path: str, name: str, seen: frozenset[str] = frozenset()) -> bool:
    """Does it assert anything, itself or in a function of its file that it calls?"""
    here = functions(path)
    for node in ast.walk(here[name]):
        if isinstance(node, ast.Assert):
            return True
        if not isinstance(node, ast.Call):
            continue
        if isinstance(node.func, ast.Attribute) and node.func.attr in ("raises", "fail"):
            return True
        called = node.func.id if isinstance(node.func, ast.Name) else ""
        if called in here and called not in seen | {name} and asserts(path, called, seen | {name}):
            return True
    return False


def skipped(path: str, name: str) -> bool:
    """Is it left out whatever holds?"""
    marks = [ast.unparse(one) for one in getattr(functions(path)[name], "decorator_list", ())]
    return any(re.match(r"pytest\.mark\.(skip|xfail)\b(?!if)", mark) for mark in marks)


def faults(cell: str, control: str = "") -> list[str]:
    """What is wrong with the tests that a cell names."""
    named, found = NAMED.findall(cell), []
    if not named:
        return ["names no test"]
    for path, name in named:
        if not (ROOT / path).is_file():
            found.append(f"no file `{path}`")
            continue
        tests = [name] if name else [one for one in functions(path) if one.startswith("test_")]
        found += [f"no `{one}` in `{path}`" for one in tests if one not in functions(path)]
        here = [one for one in tests if one in functions(path)]
        found += [f"`{one}` asserts nothing" for one in here if not asserts(path, one)]
        found += [f"`{one}` is never run" for one in here if skipped(path, one)]
    there = {one for path, _ in named if (ROOT / path).is_file() for one in functions(path)}
    return found + [f"no control `{one}`" for one in CONTROL.findall(control) if one not in there]


def test_what_is_promised_against_each_actor_has_tests() -> None:
    found = rows(section(PAGE.read_text(), "From whom"))
    assert len(found) >= 8
    assert {row[0]: faults(row[-1]) for row in found if faults(row[-1])} == {}


def test_every_way_in_which_a_promise_is_kept_has_tests_by_name() -> None:
    text = PAGE.read_text()
    kept = TITLE.findall(section(text, "How each is kept")) + re.findall(
        r"^- \*\*([^*.]+)\*\* ", section(text, "How each is kept"), re.MULTILINE
    )
    found = rows(section(text, "Which test holds what"))
    assert len(kept) == section(text, "How each is kept").count("\n- **") + 1
    assert {row[0] for row in found} == set(kept)
    wrong = {row[1]: faults(row[2], row[3]) for row in found if faults(row[2], row[3])}
    assert wrong == {}
    assert all(name for row in found for _, name in NAMED.findall(row[2])), "a promise has a test, not a file"


@pytest.mark.parametrize(
    ("cell", "control", "problem"),
    [
        ("nothing", "", "names no test"),
        ("`tests/meta/none.py::test_a`", "", "no file `tests/meta/none.py`"),
        ("`tests/meta/test_docs.py::test_none`", "", "no `test_none` in `tests/meta/test_docs.py`"),
        ("`tests/meta/test_security_page.py::section`", "", "`section` asserts nothing"),
        (
            "`tests/meta/test_security_page.py::test_what_is_promised_against_each_actor_has_tests`",
            "`test_none`",
            "no control `test_none`",
        ),
    ],
)
def test_a_promise_that_nothing_holds_is_found(cell: str, control: str, problem: str) -> None:
    assert faults(cell, control) == [problem]


def test_a_test_that_is_always_left_out_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "tests").mkdir()
    (tmp_path / "tests" / "one.py").write_text("@pytest.mark.skip\ndef test_a():\n    assert True\n")
    monkeypatch.setitem(globals(), "ROOT", tmp_path)
    assert faults("`tests/one.py::test_a`") == ["`test_a` is never run"]
