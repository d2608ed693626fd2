"""Every source file has its test, and the house stays readable."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import click
from tests.meta.imported_modules import PACKAGE, ROOT, calls, imported, modules, texts

from faultwire import cli, wire
from faultwire.faults._registry import registry as faults
from faultwire.mock._registry import dialects

STARTED = {
    # run in a process of its own: what its tests start it with, and one of their files
    "faultwire.mitm.__main__": ("faultwire.mitm.engine.client", "tests/e2e/engine/conftest.py"),
    "faultwire.mitm.engine.main": ("faultwire.mitm.engine.client", "tests/e2e/engine/conftest.py"),
    "faultwire.demo.agent": ("faultwire.demo.environment", "tests/e2e/demo/conftest.py"),
    "faultwire.checks.__main__": ("faultwire.checks._markdown", "tests/unit/checks/test_describe.py"),
    "faultwire.wire.__main__": ("faultwire.wire.documentation", "tests/unit/wire/test_documentation.py"),
    "faultwire.runner.session": ("faultwire", "tests/e2e/session/test_session.py"),
    "faultwire.faults.__main__": ("faultwire.faults._markdown", "tests/unit/faults/test_main.py"),
    "faultwire.mock.__main__": ("faultwire.mock.client", "tests/e2e/agents/test_a2a_sdk.py"),
    "faultwire.capture.netns.inside": (
        "faultwire.capture.netns.namespace",
        "tests/unit/capture/netns/test_namespace.py",
    ),
    "faultwire.workbench.__main__": ("faultwire.workbench.client", "tests/e2e/workbench/test_beside.py"),
    "faultwire.benchmarks.child.agent": (
        "faultwire.benchmarks.server",
        "tests/e2e/benchmarks/test_agentdojo.py",
    ),
    "faultwire.benchmarks.child.agentdojo_tasks": (
        "faultwire.benchmarks.server",
        "tests/e2e/benchmarks/test_agentdojo.py",
    ),
    "faultwire.attacker.asking": ("faultwire.attacker.model", "tests/unit/attacker/test_model.py"),
    "faultwire.benchmarks.child.aib_tasks": (
        "faultwire.benchmarks.server",
        "tests/e2e/benchmarks/test_agent_injection_bench.py",
    ),
    "faultwire.benchmarks.child.injecagent_tasks": (
        "faultwire.benchmarks.server",
        "tests/e2e/benchmarks/test_injecagent.py",
    ),
    "faultwire.benchmarks.child.serve": (
        "faultwire.benchmarks.server",
        "tests/e2e/benchmarks/test_agentdojo.py",
    ),
    "faultwire.faults.attack.__main__": (
        "faultwire.faults.attack._library",
        "tests/unit/faults/test_library.py",
    ),
    "faultwire.store.migrations.env": ("faultwire.store.database", "tests/unit/store/test_database.py"),
    "faultwire.fuzz.child.coverage_preload": ("faultwire.fuzz.coverage", "tests/unit/fuzz/test_coverage.py"),
    "faultwire.mock.serving": ("faultwire.mock.client", "tests/e2e/mock/test_mock.py"),
}
"""Modules that no test imports by their path: whole processes, and what the public face gives."""
SOCKETS = (
    ("faultwire.mock.realtime", "realtime", "unit/mock"),
    ("faultwire.mock.responses_socket", "responses_socket", "unit/mock"),
)
"""What the mock speaks over a WebSocket, as `faultwire.mock.sockets.ENDPOINTS` names it."""
LONGEST = 320
"""Lines; the aim is 100 to 250."""


def sources() -> list[Path]:
    return [path for path in modules().values() if path.name != "__init__.py"]


def files(under: str = "") -> list[Path]:
    place = ROOT / "tests" / under
    return sorted(place.rglob("*.py")) if place.is_dir() else [place]


def plugins() -> Iterator[tuple[str, str, str]]:
    """What a registry finds by its name: the module, the name, and where its family is tested."""
    for name, protocol in wire.protocols().items():
        yield type(protocol).__module__, name, "unit/wire"
    for name, dialect in dialects().items():
        yield type(dialect).__module__, name, "unit/mock"
    for name, fault in faults().items():
        yield fault.__module__, name, "unit/faults"
    yield from SOCKETS
    yield "faultwire.pytest", "faultwire.pytest", "e2e/pytest"


@cache
def said(under: str) -> str:
    return "\n".join(text for path in files(under) for text in texts(path))


def exercised(name: str, under: str) -> bool:
    """Does a test of the family name it in a text, as a whole word and not as a part of a host or a path?"""
    return re.search(rf"(?<![\w./-]){re.escape(name)}(?![\w./-])", said(under)) is not None


def commands(group: click.Command, words: tuple[str, ...] = ()) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Every command: the module that defines it, and its words on the command line."""
    if words and group.callback is not None:
        yield group.callback.__module__, words
    if isinstance(group, click.Group):
        context = click.Context(group)
        for name in (*group.list_commands(context), *getattr(group, "renamed", ())):
            command = group.get_command(context, name)
            assert command is not None
            yield from commands(command, (*words, name))


def given(words: tuple[str, ...], lines: set[tuple[str, ...]]) -> bool:
    """Does a test give these words, one after the other, to the command?"""
    return any(words == line[at : at + len(words)] for line in lines for at in range(len(line)))


def private_parts(module: str) -> set[str]:
    """The modules with an underscore that a module of their folder imports, and those that they import."""
    folder = module.rpartition(".")[0]
    found, left = set(), [module]
    while left:
        for other in imported(modules()[left.pop()]) & set(modules()):
            package, _, name = other.rpartition(".")
            if package == folder and name.startswith("_") and other not in found:
                found.add(other)
                left.append(other)
    return found


def plugin_parts(module: str, folders: set[str]) -> set[str]:
    """What a plug-in imports, at any distance, of the folders that hold plug-ins and their parts."""
    family = ".".join(module.split(".")[:2]) + "."
    seen, left = {module}, [module]
    while left:
        for other in imported(modules()[left.pop()]) & set(modules()):
            if other.startswith(family) and other not in seen:
                seen.add(other)
                left.append(other)
    return {one for one in seen if one.rpartition(".")[0] in folders}


def covered() -> set[str]:
    found = {name for path in files() for name in imported(path)} & set(modules())
    lines = {line for path in files() for line in calls(path)}
    found |= {module for module, words in commands(cli.main) if given(words, lines)}
    named = {module for module, name, under in plugins() if exercised(name, under)}
    folders = {module.rpartition(".")[0] for module in named}
    found |= named.union(*(plugin_parts(module, folders) for module in named))
    for module, (starter, place) in STARTED.items():
        if any(starter in imported(path) for path in files(place.removeprefix("tests/"))):
            found.add(module)
    return found.union(*(private_parts(module) for module in found))


def test_every_module_has_a_test_that_imports_or_exercises_it() -> None:
    missing = {name for name, path in modules().items() if path.name != "__init__.py"} - covered()
    assert sorted(missing) == []


def test_a_word_is_no_import(tmp_path: Path) -> None:
    """Negative control: what a test only names is not covered by it."""
    named, bought = tmp_path / "named.py", tmp_path / "bought.py"
    named.write_text('"""faultwire.dice, and the dice."""\nfrom faultwire import clock\nDICE = "dice"\n')
    bought.write_text("from faultwire.dice import Dice\nfrom faultwire import wire\nwire.is_signed\n")
    assert imported(named) == {"faultwire.clock"}
    assert {"faultwire.dice", "faultwire.wire.recognition.signed"} <= imported(bought)
    assert not exercised("no_such_fault", "unit/faults")
    assert not given(("tape", "no-such-command"), {("tape", "show")})


def test_no_file_outgrows_a_reader() -> None:
    long = {
        str(path.relative_to(PACKAGE)): lines
        for path in sources()
        if (lines := len(path.read_text().splitlines())) > LONGEST
    }
    assert long == {}


def test_only_faultwire_lives_in_the_source_root() -> None:
    assert [p.name for p in (ROOT / "proxy").iterdir() if p.name != "__pycache__"] == ["faultwire"]
    for folder in ("proxy", "addons", "profiles", "replays"):
        assert not (ROOT / folder / "__init__.py").exists()


def test_the_top_level_is_the_card() -> None:
    tracked = {
        "pyproject.toml",
        "Cargo.toml",
        "Cargo.lock",
        "README.md",
        "LICENSE",
        "CHANGELOG.md",
        "docs",
        "proxy",
        "addons",
        "core_rs",
        "deploy",
        "profiles",
        "replays",
        "tests",
    }
    ignored = {"target", "dist", "build", "__pycache__"}
    extra = {p.name for p in ROOT.iterdir() if not p.name.startswith(".")} - tracked - ignored
    assert extra == set()
