"""User-visible text uses the project's words: no banned phrase in strings, help texts and page templates."""

from __future__ import annotations

import ast
import re
from collections.abc import Container, Iterator
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


REMOVED = frozenset(
    {
        "told", "said", "says", "saying", "met", "unmet", "meet", "mend", "mends", "broke",
        "heard", "hear", "hears", "unheard", "retold", "tells", "telling",
    }
)  # fmt: skip
"""Words that no name may contain: each says that something happened, and not what the value is."""
DOCUMENT_KEYS = {"report/_exchange_shape.py": {"told", "said"}}
"""Members of the report's JSON document, by the module that declares them: readers of reports know them."""


def bound_names(source: str) -> Iterator[tuple[int, str]]:
    """The names that a module binds: imports, classes, functions, parameters, variables, attributes."""
    for node in ast.walk(ast.parse(source)):
        match node:
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
                yield node.lineno, name
            case ast.Name(id=name, ctx=ast.Store()) | ast.Attribute(attr=name, ctx=ast.Store()):
                yield node.lineno, name
            case ast.arg(arg=name):
                yield node.lineno, name
            case ast.Import(names=aliases) | ast.ImportFrom(names=aliases):
                yield from ((node.lineno, alias.asname) for alias in aliases if alias.asname)


def removed_words(name: str) -> set[str]:
    return {word.lower() for word in re.split(r"_+|(?<=[a-z])(?=[A-Z])", name)} & REMOVED


def private_names(source: str, allowed: Container[str] = ()) -> list[str]:
    return [
        f"{line}: {name}" for line, name in bound_names(source) if removed_words(name) and name not in allowed
    ]


def test_names_state_what_a_value_is() -> None:
    files = sorted(PACKAGE.rglob("*.py"))
    assert files
    found = {
        where: names
        for path in files
        if (where := path.relative_to(PACKAGE).as_posix())
        and (
            names := [path.stem]
            if removed_words(path.stem)
            else private_names(path.read_text(), DOCUMENT_KEYS.get(where, ()))
        )
    }
    assert found == {}


@pytest.mark.parametrize(
    "planted",
    [
        "def f(told): ...",
        "told = 1",
        "def said(): ...",
        "class Heard: ...",
        "class C:\n    def _met(self): ...",
        "x.not_told = 1",
        "for said in (): ...",
        "import a as said",
        "try: ...\nfinally:\n    (says := 1)",
        "async def hear(): ...",
    ],
)
def test_a_planted_private_name_is_found(planted: str) -> None:
    assert len(private_names(planted)) == 1


PRIVATE = frozenset(
    {
        "told", "tells", "tell", "met", "meets", "meet", "mend", "mends", "mended", "hear", "hears", "heard",
        "felt",
    }
)  # fmt: skip
"""Words that no name of a test may contain. A model, a user or a server may say something."""


def private_tests(source: str) -> list[str]:
    """The tests whose names have such a word."""
    return [
        name
        for _, name in bound_names(source)
        if name.startswith("test_") and PRIVATE & set(name.casefold().split("_"))
    ]


def test_names_of_tests_state_what_is_proven() -> None:
    files = sorted((PACKAGE.parents[1] / "tests").rglob("test_*.py"))
    assert len(files) > 500
    assert [f"{path.name}: {name}" for path in files for name in private_tests(path.read_text())] == []


@pytest.mark.parametrize("word", sorted(PRIVATE))
def test_a_planted_name_of_a_test_is_found(word: str) -> None:
    assert private_tests(f"def test_it_{word}_that(): ...\ndef test_method_of_a_tellurium_mender(): ...") == [
        f"test_it_{word}_that"
    ]


def test_other_names_and_the_documents_keys_are_left_alone() -> None:
    assert private_names("method = 1\ndef essays(metric, broken): ...\nx = told") == []
    assert private_names("told: list[str]", {"told"}) == []


def test_no_document_key_is_allowed_in_vain() -> None:
    for where, names in DOCUMENT_KEYS.items():
        assert names <= {name for _, name in bound_names((PACKAGE / where).read_text())}
