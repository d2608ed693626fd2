"""Which modules of the package a test file imports, read from its syntax tree and never from its words."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "proxy" / "faultwire"
_IMPORT = "import "


@cache
def modules() -> dict[str, Path]:
    """Every module that holds code, by its dotted name."""
    found = {}
    for path in sorted(PACKAGE.rglob("*.py")):
        if "_data" not in path.parts and path.read_text().strip():
            parts = path.relative_to(PACKAGE.parent).with_suffix("").parts
            found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return found


@cache
def tree(path: Path) -> ast.Module:
    return ast.parse(path.read_text())


@cache
def nodes(path: Path) -> tuple[ast.AST, ...]:
    return tuple(ast.walk(tree(path)))


@cache
def _offered(package: str) -> dict[str, tuple[str, str]]:
    """The names that a package's `__init__` takes from its modules: where each comes from."""
    path = modules().get(package)
    if path is None or path.name != "__init__.py":
        return {}
    return {
        alias.asname or alias.name: (node.module, alias.name)
        for node in tree(path).body
        if isinstance(node, ast.ImportFrom) and node.module
        for alias in node.names
    }


def _home(module: str, name: str) -> str:
    """The module behind `from module import name`."""
    if f"{module}.{name}" in modules():
        return f"{module}.{name}"
    offered = _offered(module).get(name)
    return _home(*offered) if offered else module


def _programs(path: Path) -> Iterator[tuple[ast.AST, ...]]:
    """The nodes of the file, and of the programs in its texts that a test runs in a process of their own."""
    yield nodes(path)
    for node in nodes(path):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and _IMPORT in node.value:
            try:
                yield tuple(ast.walk(ast.parse(node.value)))
            except SyntaxError:
                continue


@cache
def imported(path: Path) -> frozenset[str]:
    """The modules that a file imports, by themselves or by a name that a package offers."""
    return frozenset(name for program in _programs(path) for name in _imported(program))


def _imported(program: tuple[ast.AST, ...]) -> Iterator[str]:
    packages: dict[str, str] = {}
    for node in program:
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            for alias in node.names:
                home = _home(node.module, alias.name)
                packages[alias.asname or alias.name] = home
                yield home
    for node in program:
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id in packages:
            package = packages[node.value.id]
            if node.attr in _offered(package):
                yield _home(package, node.attr)


@cache
def texts(path: Path) -> frozenset[str]:
    """Every text in a file, docstrings left out."""
    about = {
        id(node.body[0].value)
        for node in nodes(path)
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef)
        and node.body
        and isinstance(node.body[0], ast.Expr)
    }
    return frozenset(
        node.value
        for node in nodes(path)
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in about
    )


def calls(path: Path) -> Iterator[tuple[str, ...]]:
    """The texts that stand side by side in a call, a list or a tuple: the words of a command."""
    for node in nodes(path):
        items = node.args if isinstance(node, ast.Call) else getattr(node, "elts", None)
        if items:
            yield tuple(one.value if isinstance(one, ast.Constant) else "" for one in items)
