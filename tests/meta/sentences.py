"""Collects every sentence that faultwire can print about a run, and which tests show where it is said.

    python tests/meta/sentences.py    runs the tests and writes `tests/vectors/sentences.json`

A sentence is a text with a space inside a function of the modules below: reasons of verdicts, what is noticed
and advised, lines of the summary, findings of verifiers and imports. For each the table names a test in which
it is said, and one that asks the same function and in which it is not.
"""

from __future__ import annotations

import ast
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from types import FrameType
from typing import Any, NamedTuple

import pytest

import faultwire

ROOT = Path(__file__).parents[2]
SOURCES = Path(faultwire.__file__).parent
"""As installed: end-to-end tests run on a wheel, without the sources."""
TABLE = ROOT / "tests" / "vectors" / "sentences.json"
NO_SENTENCES = {
    "__init__.py",
    "__main__.py",
    "_describe.py",
    "_markdown.py",
    "_registry.py",
    "_schema.py",
}
NO_TEXT = (
    "not bold",
    "bold ",
    "PRAGMA",
    "--{}",
    "\r\n",
    "; filename",
    "\r\nContent",
    " GROUP BY",
    "{} GROUP BY",
)
"""Of statements to a database, and of heads of a multipart body."""
LETTERS = 3
"""A template with fewer only puts two values side by side."""
MODULES = (
    *sorted(path for path in (SOURCES / "checks").glob("*.py") if path.name not in NO_SENTENCES),
    SOURCES / "campaign" / "notes.py",
    SOURCES / "ingestion" / "compare_claims.py",
    SOURCES / "report" / "advice.py",
    SOURCES / "report" / "broken_arguments.py",
    SOURCES / "report" / "explained.py",
    SOURCES / "report" / "explored.py",
    SOURCES / "report" / "halves.py",
    SOURCES / "report" / "noticed.py",
    SOURCES / "report" / "passed.py",
    SOURCES / "report" / "unanswered.py",
    SOURCES / "report" / "progress.py",
    SOURCES / "report" / "repeated.py",
    SOURCES / "report" / "summary.py",
    SOURCES / "report" / "terminal.py",
    SOURCES / "report" / "terminal_numbers.py",
    SOURCES / "report" / "unfired.py",
    SOURCES / "runner" / "gate.py",
    SOURCES / "attacker" / "report.py",
    SOURCES / "evolution" / "report.py",
    SOURCES / "fuzz" / "report.py",
    SOURCES / "load" / "report.py",
    SOURCES / "cli" / "_controlled.py",
    SOURCES / "cli" / "_pushed.py",
    SOURCES / "cli" / "_driven.py",
    SOURCES / "mitm" / "breakpoints" / "desk.py",
    SOURCES / "mitm" / "breakpoints" / "mutators.py",
    SOURCES / "cli" / "_summary.py",
    SOURCES / "cli" / "_topology.py",
    SOURCES / "tape" / "evidence" / "check_seals.py",
    SOURCES / "tape" / "evidence" / "erasures.py",
    SOURCES / "tape" / "evidence" / "verify.py",
    SOURCES / "tape" / "export" / "question_evidence.py",
    *sorted((SOURCES / "tape" / "import_").glob("[a-z_]*.py")),
)
TESTS = (
    "tests/unit/checks",
    "tests/unit/campaign/test_notes.py",
    "tests/unit/ingestion/test_compare_claims.py",
    "tests/unit/report/test_advice.py",
    "tests/unit/report/test_broken_arguments.py",
    "tests/unit/report/test_cause.py",
    "tests/unit/report/test_explained.py",
    "tests/unit/report/test_explored.py",
    "tests/unit/report/test_halves.py",
    "tests/unit/report/test_noticed.py",
    "tests/unit/report/test_observed.py",
    "tests/unit/report/test_passed.py",
    "tests/unit/report/test_unanswered.py",
    "tests/unit/report/test_progress.py",
    "tests/unit/report/test_summary.py",
    "tests/unit/report/test_terminal.py",
    "tests/unit/report/test_terminal_numbers.py",
    "tests/unit/runner/test_gate.py",
    "tests/unit/attacker/test_report.py",
    "tests/unit/evolution/test_report.py",
    "tests/unit/fuzz/test_report.py",
    "tests/unit/load/test_report.py",
    "tests/unit/cli/test_controlled.py",
    "tests/unit/cli/test_pushed.py",
    "tests/unit/cli/test_driven.py",
    "tests/unit/cli/test_summary.py",
    "tests/unit/cli/test_topology.py",
    "tests/unit/mitm/breakpoints",
    "tests/unit/tape/evidence",
    "tests/unit/tape/export/test_questions.py",
    "tests/unit/tape/files/test_erase.py",
    "tests/unit/tape/format/test_bypassed.py",
    "tests/unit/tape/import_",
)


class Sentence(NamedTuple):
    """A template, with its place: the lines of the text, and those of its function."""

    path: str
    function: range
    lines: range
    template: str

    @property
    def key(self) -> str:
        return f"{self.path}: {self.template}"


def sentences(path: Path, source: str | None = None) -> Iterator[Sentence]:
    """Those of one module."""
    name = str(path.relative_to(SOURCES))
    tree = ast.parse(path.read_text() if source is None else source)
    for function in ast.walk(tree):
        if isinstance(function, ast.FunctionDef):
            first = min([function.lineno, *(one.lineno for one in function.decorator_list)])
            extent = range(first, (function.end_lineno or 0) + 1)
            for node in _texts(function):
                template = _template(node)
                if " " in template.strip() and not template.startswith(NO_TEXT) and _speaks(template):
                    yield Sentence(name, extent, range(node.lineno, (node.end_lineno or 0) + 1), template)


def _speaks(template: str) -> bool:
    return sum(letter.isalpha() for letter in template) >= LETTERS and "FROM " not in template


def _texts(node: ast.AST) -> Iterator[ast.JoinedStr | ast.Constant]:
    """The texts in a function's own statements, without its docstring, errors, assertions and annotations."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.FunctionDef | ast.Raise | ast.Assert | ast.arguments):
            continue
        if isinstance(child, ast.Expr) and isinstance(child.value, ast.Constant):
            continue
        if isinstance(child, ast.Call) and getattr(child.func, "id", "") in ("cast", "compiled", "TapeError"):
            continue
        if isinstance(child, ast.JoinedStr) or (
            isinstance(child, ast.Constant) and isinstance(child.value, str)
        ):
            yield child
        else:
            yield from _texts(child)


def _template(node: ast.JoinedStr | ast.Constant) -> str:
    parts = node.values if isinstance(node, ast.JoinedStr) else [node]
    return "".join(str(one.value) if isinstance(one, ast.Constant) else "{}" for one in parts)


def all_sentences() -> list[Sentence]:
    return [one for path in MODULES for one in sentences(path)]


class Listener:
    """A plug-in of pytest that notes which test says what, and which only asks."""

    def __init__(self) -> None:
        self.said: dict[str, str] = {}
        self.not_said: dict[str, str] = {}
        self._found: dict[str, dict[int, list[Sentence]]] = {}
        for one in all_sentences():
            by_line = self._found.setdefault(str(SOURCES / one.path), {})
            for line in one.function:  # a comprehension in it is a frame of its own
                by_line.setdefault(line, []).append(one)

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_call(self, item: pytest.Item) -> Any:
        said: set[str] = set()
        quiet: set[str] = set()
        sys.settrace(lambda frame, event, _: self._entered(frame, said, quiet))
        try:
            result = yield
        finally:
            sys.settrace(None)
        name = item.nodeid.partition("[")[0]
        for keys, table in ((said, self.said), (quiet, self.not_said)):
            for key in keys:
                table.setdefault(key, name)
        return result

    def _entered(self, frame: FrameType, said: set[str], quiet: set[str]) -> Any:
        here = self._found.get(frame.f_code.co_filename, {}).get(frame.f_code.co_firstlineno)
        if here is None:
            return None
        reached: set[str] = set()

        def line(frame: FrameType, event: str, _: Any) -> Any:
            if event == "line":
                reached.update(one.key for one in here if frame.f_lineno in one.lines)
            elif event == "return":
                said.update(reached)
                first = frame.f_code.co_firstlineno
                quiet.update(
                    one.key for one in here if one.function.start == first and one.key not in reached
                )
            return line

        return line


def main() -> int:
    listener = Listener()
    # Who listens makes it slow: a test of speed would fail.
    options = ["-q", "-W", "ignore::pytest.PytestAssertRewriteWarning", "-p", "no:cacheprovider", "-x"]
    options += ["--ignore", "tests/unit/checks/test_speed.py"]
    code = pytest.main([*options, *TESTS], plugins=[listener])
    if code:
        return int(code)
    table = {one.key: [listener.said.get(one.key), listener.not_said.get(one.key)] for one in all_sentences()}
    table |= {key: pair for key, pair in json.loads(TABLE.read_text()).items() if ".js: " in key}
    TABLE.write_text(json.dumps(table, indent=1, ensure_ascii=False, sort_keys=True) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
