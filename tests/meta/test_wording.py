"""User-visible text uses the project's words: no banned phrase in strings, help texts and page templates."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parents[2] / "proxy" / "faultwire"
ROOMS = (
    "agents", "campaign", "capture", "checks", "cli", "config", "contract", "demo", "faults", "profile",
    "replay", "report", "runner",
)  # fmt: skip
BANNED = {
    r"\bto mend\b": "Recommended fixes, or `to fix`",
    r"\bended well\b": "exited 0",
    r"\basked for it again\b": "was not retried",
    r"\bnot shown\b": "not significant",
    r"\bis wanted\b": "threshold",
    r"\bcame through\b(?! the proxy)": "passed all checks",
    r"\bvoid (run|invocation)s?\b|\brun is void\b|\bvoid:": "inconclusive run (exit 3)",
    r"\bof all chance\b": "random seed",
    r"\bof ours\b|\bunder a URL of\b": "local URL",
    r"\bmints? back\b": "rewrite recorded ids and timestamps to the agent's own",
    r"\bis no report of\b": "is not a faultwire report",
    r"\bbear in mind\b": "warnings",
    r"\bunbroken\b": "without faults",
    r"\bnothing was learned\b|\bnothing would be learned\b": "the run is inconclusive",
    r"\bwritten over\b|\bwrite over\b": "overwritten",
    r"\bjudged nowhere\b": "never judged",
    r"\bhung up\b": "closed the connection",
    r"\bsaid of itself\b|\bsaid nothing\b": "printed nothing",
    r"\bmeans nothing\b|\bmean nothing\b": "is ignored",
    r"\bbreaks nothing\b": "has no faults",
    r"\bthe house\b": "the machine",
}
"""Phrases that a reader has to guess at, each with what to write instead."""


def problems(text: str) -> list[str]:
    return [
        f"{hit[0]!r}: write {better}" for banned, better in BANNED.items() if (hit := re.search(banned, text))
    ]


def visible(source: str) -> Iterator[tuple[int, str]]:
    """The strings of a module but for docstrings; those of commands are in: they are the text of `--help`."""
    tree = ast.parse(source)
    hidden: set[int] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            hidden |= {id(each) for each in _statement_texts(node)}
            if is_command(node):
                yield node.lineno, ast.get_docstring(node) or ""
        if isinstance(node, ast.JoinedStr):
            hidden |= {id(part) for part in node.values}
            parts = (part.value if isinstance(part, ast.Constant) else "{}" for part in node.values)
            yield node.lineno, "".join(map(str, parts))
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in hidden:
            yield node.lineno, node.value


def _statement_texts(
    node: ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef,
) -> Iterator[ast.expr]:
    """Docstrings, and the texts below constants that document them."""
    for statement in node.body:
        if isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant):
            yield statement.value


def is_command(node: ast.AST) -> bool:
    """Is it a function that click shows in `--help`?"""
    return isinstance(node, ast.FunctionDef) and any(
        re.search(r"(command|group)\(", ast.unparse(decorator)) for decorator in node.decorator_list
    )


def found(path: Path) -> list[str]:
    text = path.read_text()
    if path.suffix == ".py":
        return [f"{path.name}:{line}: {each}" for line, string in visible(text) for each in problems(string)]
    return [
        f"{path.name}:{number}: {each}"
        for number, line in enumerate(text.splitlines(), 1)
        for each in problems(re.sub(r"{#.*?#}|{%.*?%}|{{.*?}}", "", line))
    ]


@pytest.mark.parametrize("room", ROOMS)
def test_user_visible_text_uses_plain_words(room: str) -> None:
    files = [path for path in sorted((PACKAGE / room).rglob("*")) if path.suffix in (".py", ".j2")]
    assert files
    assert [each for path in files for each in found(path)] == []


def test_the_page_of_commands_uses_plain_words() -> None:
    assert found(PACKAGE.parents[1] / "docs" / "reference" / "commands.md") == []


@pytest.mark.parametrize(
    "planted",
    [
        'raise ValueError("the run is void")',
        'say(f"{count} invocations came through clean")',
        '@click.command("x")\ndef x() -> None:\n    """Say what to mend."""',
        'click.option("--seed", help="Seed of all chance.")',
    ],
)
def test_a_planted_phrase_is_found_in_a_module(planted: str, tmp_path: Path) -> None:
    (tmp_path / "planted.py").write_text(planted)
    assert len(found(tmp_path / "planted.py")) == 1


def test_a_planted_phrase_is_found_in_a_template(tmp_path: Path) -> None:
    (tmp_path / "page.j2").write_text('{# not shown #}<h2 id="{{ void }}">What to mend</h2>')
    assert found(tmp_path / "page.j2") == ["page.j2:1: 'to mend': write Recommended fixes, or `to fix`"]


def test_docstrings_of_other_functions_are_not_user_visible(tmp_path: Path) -> None:
    (tmp_path / "inner.py").write_text(
        'def f() -> None:\n    """What is wanted."""\n\nX = 1\n"""Not shown."""'
    )
    assert found(tmp_path / "inner.py") == []


CLEARED = ("agents", "campaign", "config", "mock", "mutations", "wire")
"""Packages in which no local value or parameter is named `told` any more."""


def vague_names(source: str) -> list[int]:
    """The lines that bind or read a value named `told`, a name that says nothing about the value."""
    return [
        node.lineno
        for node in ast.walk(ast.parse(source))
        if (isinstance(node, ast.Name) and node.id == "told")
        or (isinstance(node, ast.arg) and node.arg == "told")
    ]


@pytest.mark.parametrize("room", CLEARED)
def test_values_are_named_after_what_they_hold(room: str) -> None:
    files = sorted((PACKAGE / room).rglob("*.py"))
    assert files
    assert [f"{path}:{line}" for path in files for line in vague_names(path.read_text())] == []


def test_a_planted_vague_name_is_found() -> None:
    assert vague_names("def f(told):\n    return told\n") == [1, 2]
