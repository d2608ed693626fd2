"""One layer knows one thing: who may import what."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "proxy" / "faultwire"

ALLOWED = {
    "mitmproxy": ("mitm/",),
    "mitmproxy_rs": ("mitm/",),
    "sqlite3": ("tape/",),
    "time": ("clock.py", "demo/agent.py"),
    "random": ("dice.py",),
    "secrets": ("dice.py",),
    "uuid": ("dice.py",),
}


def imports(source: str) -> set[str]:
    found: set[str] = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            found.update(alias.name.split(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            found.add(node.module.split(".")[0])
    return found


def calls(source: str) -> set[str]:
    return {ast.unparse(node.func) for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Call)}


def modules() -> list[Path]:
    return sorted(PACKAGE.rglob("*.py"))


@pytest.mark.parametrize("banned", ALLOWED)
def test_only_its_layer_imports_it(banned: str) -> None:
    offenders = [
        str(path.relative_to(PACKAGE))
        for path in modules()
        if banned in imports(path.read_text())
        and not str(path.relative_to(PACKAGE)).startswith(ALLOWED[banned])
    ]
    assert offenders == []


def test_only_the_clock_reads_time_and_sleeps() -> None:
    banned = {"asyncio.sleep", "datetime.now", "datetime.datetime.now", "datetime.utcnow", "os.urandom"}
    offenders = {
        str(path.relative_to(PACKAGE)): banned & calls(path.read_text())
        for path in modules()
        if path.name not in ("clock.py", "dice.py") and banned & calls(path.read_text())
    }
    assert offenders == {}


def test_the_ban_sees_an_import() -> None:
    assert imports("from mitmproxy.http import Headers\nimport time as t") == {"mitmproxy", "time"}
    assert "asyncio.sleep" in calls("await_ = asyncio.sleep(1)")
