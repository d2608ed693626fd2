"""One layer knows one thing: who may import what."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "proxy" / "faultwire"

ALLOWED = {
    "mitmproxy": ("mitm/",),
    "mitmproxy_rs": ("mitm/",),
    # The SQL of tapes is a file format of ours, which only `tape/` reads and writes. A store of results is a
    # database that a team shares, by a library and with migrations: a room of its own, which knows tapes only
    # through `tape/`.
    "sqlite3": ("tape/",),
    "sqlalchemy": ("store/",),
    "alembic": ("store/",),
    "obstore": ("store/",),
    "time": ("clock.py", "demo/agent.py"),
    "random": ("dice.py", "capture/chance_preload.py"),
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


def modules(words: str) -> dict[str, str]:
    """The sources that hold one of these words at all; reading the others as Python takes a while."""
    found = {str(path.relative_to(PACKAGE)): path.read_text() for path in sorted(PACKAGE.rglob("*.py"))}
    return {name: source for name, source in found.items() if re.search(rf"\b(?:{words})\b", source)}


@pytest.mark.parametrize("banned", ALLOWED)
def test_only_its_layer_imports_it(banned: str) -> None:
    offenders = [
        name
        for name, source in modules(banned).items()
        if not name.startswith(ALLOWED[banned]) and banned in imports(source)
    ]
    assert offenders == []


def test_only_the_clock_reads_time_and_sleeps() -> None:
    banned = {"asyncio.sleep", "datetime.now", "datetime.datetime.now", "datetime.utcnow", "os.urandom"}
    offenders = {
        name: banned & calls(source)
        for name, source in modules("sleep|now|utcnow|urandom").items()
        if Path(name).name not in ("clock.py", "dice.py") and banned & calls(source)
    }
    assert offenders == {}


def test_the_ban_sees_an_import() -> None:
    assert imports("from mitmproxy.http import Headers\nimport time as t") == {"mitmproxy", "time"}
    assert "asyncio.sleep" in calls("await_ = asyncio.sleep(1)")
