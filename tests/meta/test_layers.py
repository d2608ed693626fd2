"""The contracts on imports hold, and can fail."""

# ruff: noqa: E501 - each turn stands in one line of its table
from __future__ import annotations

import os
import subprocess
import sys
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path

import grimp
import pytest

ROOT = Path(__file__).parents[2]


def lint(config: Path) -> subprocess.CompletedProcess[str]:
    command = [str(Path(sys.executable).parent / "lint-imports"), "--config", str(config), "--no-cache"]
    env = {**os.environ, "PYTHONPATH": str(config.parent)}
    return subprocess.run(command, cwd=ROOT, env=env, capture_output=True, text=True, check=False)


def test_layers_hold() -> None:
    done = lint(ROOT / "pyproject.toml")
    assert done.returncode == 0, done.stdout


def test_an_upward_import_is_found(tmp_path: Path) -> None:
    text = (ROOT / "pyproject.toml").read_text()
    turned = tmp_path / "pyproject.toml"
    turned.write_text(text.replace('  "exchange",\n  "profile",\n', '  "profile",\n  "exchange",\n'))
    assert turned.read_text() != text
    assert lint(turned).returncode != 0


@pytest.mark.parametrize(
    ("contract", "held", "turned"),
    [
        ("the pipeline of an exchange", '"pipeline",\n  "stages"', '"stages",\n  "pipeline"'),
        ("the rooms of a tape", '"read | record",\n  "evidence | redact"', '"evidence | redact",\n  "read | record"'),
        ("the rooms of a tape", '"files | export | import_"', '"files | export"'),
        ("the rooms of the proxy", '"native",\n  "flow | flowfile"', '"flow | flowfile",\n  "native"'),
        ("the rooms of the proxy", '"messages | sessions",\n  "network"', '"network",\n  "messages | sessions"'),
    ],
)  # fmt: skip
def test_each_contract_can_be_broken(tmp_path: Path, contract: str, held: str, turned: str) -> None:
    text = (ROOT / "pyproject.toml").read_text()
    assert text.count(held) == 1
    config = tmp_path / "pyproject.toml"
    config.write_text(text.replace(held, turned))
    broken = [line for line in lint(config).stdout.splitlines() if line.endswith(" BROKEN")]
    assert broken == [f"{contract} BROKEN"]


TWO_FILES = {"a": "from PACKAGE.b import two\none = 1\n", "b": "two = 2\n"}
TYPES_ONLY = "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from PACKAGE.a import one\ntwo = 2\n"
IN_A_FUNCTION = "def two():\n    from PACKAGE.a import one\n    return one\n"


def package(folder: Path, name: str, files: Mapping[str, str]) -> Path:
    room = folder.joinpath(*name.split("."))
    for path in (room, *room.parents):
        if path == folder:
            break
        path.mkdir(parents=True, exist_ok=True)
        (path / "__init__.py").touch()
    for file, text in files.items():
        (room / f"{file}.py").write_text(text.replace("PACKAGE", name))
    return folder


@pytest.mark.parametrize("b", [TYPES_ONLY, IN_A_FUNCTION])
@pytest.mark.parametrize("room", ["held.wire", "held.tape.record", "held.mitm", "held.mitm.network"])
def test_a_circle_is_found_by_the_contracts(tmp_path: Path, room: str, b: str) -> None:
    text = (ROOT / "pyproject.toml").read_text()
    contracts = tomllib.loads(text)["tool"]["importlinter"]["contracts"]
    config = tmp_path / "pyproject.toml"
    config.write_text(
        "[tool.importlinter]\nroot_package = 'held'\nexclude_type_checking_imports = false\n"
        + "".join(
            f"[[tool.importlinter.contracts]]\nname = '{one['name']}'\ntype = 'acyclic_siblings'\n"
            f"ancestors = {one['ancestors']}\nskip_descendants = {one.get('skip_descendants', [])}\n"
            for one in contracts
            if one["type"] == "acyclic_siblings"
        ).replace("faultwire", "held")
    )
    for name in ("held.tape.record", "held.mitm", "held.mitm.network", "held.wire"):
        package(tmp_path, name, TWO_FILES)
    done = lint(config)
    assert done.returncode == 0, done.stdout
    package(tmp_path, room, {"b": b})
    assert "BROKEN" in lint(config).stdout


def circles(name: str) -> list[set[str]]:
    """Files that import one another, directly or not, at run time or for types."""
    graph = grimp.build_graph(name, exclude_type_checking_imports=False, cache_dir=None)
    after = {one: graph.find_modules_directly_imported_by(one) for one in graph.modules}
    while True:  # what imports nothing that is left, or is imported by nothing, is in no circle
        used = {two for imported in after.values() for two in imported}
        left = {
            one: {two for two in imported if two in after}
            for one, imported in after.items()
            if imported and one in used
        }
        if left == after:
            return list(_joined(left))
        after = left


def _joined(after: dict[str, set[str]]) -> Iterator[set[str]]:
    while after:
        found, waiting = set(), [next(iter(after))]
        while waiting:
            one = waiting.pop()
            if one not in found:
                found.add(one)
                waiting += after.get(one, ())
        yield found
        after = {one: imported for one, imported in after.items() if one not in found}


def test_no_file_imports_what_imports_it() -> None:
    assert circles("faultwire") == []


@pytest.mark.parametrize("b", [TYPES_ONLY, IN_A_FUNCTION])
def test_a_circle_of_files_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, b: str) -> None:
    name = f"tied_{'types' if b == TYPES_ONLY else 'function'}"
    package(tmp_path, name, TWO_FILES)
    monkeypatch.syspath_prepend(tmp_path)
    assert circles(name) == []
    package(tmp_path, name, {"b": b})
    assert circles(name) == [{f"{name}.a", f"{name}.b"}]


ENDS = {
    "attacker",
    "benchmarks",
    "campaign",
    "certificate",
    "evolution",
    "fuzz",
    "ingestion",
    "load",
    "service",
    "store",
    "workbench",
}
"""Rooms that play, show, sign or keep what others made, and that nothing but the command line knows: they may know many,
as it does, and nobody has to know them."""


def test_the_rooms_know_few_others() -> None:
    graph = grimp.build_graph("faultwire", exclude_type_checking_imports=False, cache_dir=None)
    arrows = {
        (importing.split(".")[1], imported.split(".")[1])
        for importing in graph.modules
        for imported in graph.find_modules_directly_imported_by(importing)
        if importing.count(".") and imported.count(".") and importing.split(".")[1] != imported.split(".")[1]
    }
    assert ("runner", "mitm") in arrows
    ends = {room for room in ENDS if {by for by, known in arrows if known == room} <= {"cli"} | ENDS}
    assert ends == ENDS
    among = {pair for pair in arrows if not ends & set(pair)}
    assert len(among) < 240, "a new pair of rooms that know each other: is there a way without it?"
