"""Every test that `docs/explanation/failures.md` names exists; every row has one, or says why it has none."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "explanation" / "failures.md"
NAMED = re.compile(r"`((?:tests|core_rs)/[\w/]+\.(?:py|rs))(?:::(\w+))?`")
CONTROL = re.compile(r"`(test_\w+)`")
STATED = re.compile(r"\bcontrol\b|`test_\w+`|\bas promise \d")
"""A control, the test that is one, the row that has it; or that there is no control."""


def rows(text: str) -> list[list[str]]:
    """The cells of each row of its tables, heads left out."""
    lines = [line for line in text.splitlines() if line.startswith("| ")]
    cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]
    return [row for row in cells if "test" not in row]


def problems(text: str) -> list[str]:
    """What a row names that is not there, or lacks."""
    found = []
    for row in rows(text):
        *_, tests, figure = row
        named = NAMED.findall(tests)
        if not named and not figure.startswith(("does not apply", "stated as a limit")):
            found.append(f"`{row[0]} {row[1][:30]}` has no test and no reason")
        if not figure:
            found.append(f"`{row[0]} {row[1][:30]}` has no control and no figure")
        elif named and not STATED.search(figure):
            found.append(f"`{row[0]} {row[1][:30]}` names no control, nor says that it has none")
        sources = ""
        for path, function in NAMED.findall(" ".join(row)):
            if not (ROOT / path).is_file():
                found.append(f"no file `{path}`")
                continue
            source = (ROOT / path).read_text()
            sources += source
            if function and not re.search(rf"^\s*(?:async )?def {function}\(", source, re.MULTILINE):
                found.append(f"no `{function}` in `{path}`")
        found += [f"no control `{name}`" for name in CONTROL.findall(figure) if f"def {name}(" not in sources]
    return found


def test_every_row_names_tests_that_exist() -> None:
    text = PAGE.read_text()
    assert problems(text) == []
    assert len(rows(text)) >= 32 + 20 + 16


@pytest.mark.parametrize(
    ("row", "problem"),
    [
        ("| 1 | a | `tests/unit/none.py` | control: x |", "no file `tests/unit/none.py`"),
        (
            "| 1 | a | `tests/meta/test_docs.py::test_none` | control: x |",
            "no `test_none` in `tests/meta/test_docs.py`",
        ),
        ("| 1 | a | | 0 lost |", "`1 a` has no test and no reason"),
        ("| 1 | a | `tests/meta/test_docs.py` | |", "`1 a` has no control and no figure"),
        ("| 1 | a | `tests/meta/test_docs.py` | `test_none` |", "no control `test_none`"),
        ("| 1 | a | `tests/meta/test_docs.py` | 9 |", "`1 a` names no control, nor says that it has none"),
    ],
)
def test_a_row_that_promises_too_much_is_found(row: str, problem: str) -> None:
    assert problems(row) == [problem]
