"""docs/howto/flakestorm.md names a test for each of the 48 defects, and each of these tests is there."""

from __future__ import annotations

import ast
import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
ROW = re.compile(r"^\| (F-\d\d) \| (.+?) \| (.+?) \| (.+?) \|$", re.MULTILINE)
TEST = re.compile(r"`(tests/[\w/]+\.py)::(\w+)`")


def functions(path: Path) -> set[str]:
    """The tests of a file, those of its classes too."""
    tree = ast.parse(path.read_text())
    return {
        node.name
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.name.startswith("test_")
    }


def missing(page: str) -> list[str]:
    """What the page names and nobody wrote."""
    return [
        f"{path}::{name}"
        for path, name in TEST.findall(page)
        if not (ROOT / path).is_file() or name not in functions(ROOT / path)
    ]


def page() -> str:
    return (ROOT / "docs" / "howto" / "flakestorm.md").read_text()


def test_every_defect_has_a_row_with_a_test() -> None:
    rows = ROW.findall(page())
    assert [number for number, *_ in rows] == [f"F-{n:02}" for n in range(1, 49)]
    assert [number for number, *_, tests in rows if not TEST.search(tests)] == []


def test_every_test_on_the_page_exists() -> None:
    assert missing(page()) == []


def test_a_name_that_is_none_is_seen() -> None:
    here = "`tests/meta/test_flakestorm_page.py::test_nobody_wrote_this`"
    elsewhere = "`tests/meta/test_no_file.py::test_a`"
    assert missing(f"{here} {elsewhere}") == [here.strip("`"), elsewhere.strip("`")]
