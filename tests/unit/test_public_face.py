"""`import faultwire`: the names that others may rely on."""

from __future__ import annotations

import ast
import importlib
import subprocess
import sys
from pathlib import Path

import pytest

import faultwire

ROOT = Path(__file__).parents[2]
STUB = ast.parse(Path(faultwire.__file__).with_suffix(".pyi").read_text())


def declared() -> dict[str, str]:
    """The names that a type checker sees, and the modules that they come from."""
    return {
        alias.name: str(node.module)
        for node in STUB.body
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    }


def test_all_names_what_is_visible_and_nothing_else() -> None:
    assert faultwire.__all__ == sorted(declared())
    assert declared() == faultwire._HOME_OF
    assert {*faultwire.__all__} <= {*dir(faultwire)}
    assert all(getattr(faultwire, name) is not None for name in faultwire.__all__)
    public = {name for name in vars(faultwire) if not name.startswith("_")}
    modules = {name for name in public if isinstance(getattr(faultwire, name), type(sys))}
    assert public - modules - {"annotations", "import_module", "Any"} == {*faultwire.__all__}


@pytest.mark.parametrize("name", faultwire.__all__)
def test_each_comes_from_where_it_is_said_to(name: str) -> None:
    home = importlib.import_module(declared()[name])
    assert getattr(faultwire, name) is getattr(home, name)


def test_any_other_name_is_refused() -> None:
    with pytest.raises(AttributeError, match="no attribute `Nothing`"):
        faultwire.Nothing  # noqa: B018


def test_each_has_its_row_in_the_documentation() -> None:
    page = (ROOT / "docs" / "howto" / "python.md").read_text()
    assert [name for name in faultwire.__all__ if f"`{name}`" not in page] == []


def test_nothing_is_loaded_before_it_is_asked_for() -> None:
    ours = "print(len([name for name in sys.modules if name.startswith('faultwire.')]))"
    script = f"import sys; import faultwire; {ours}; faultwire.Fault; {ours}"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    before, after = map(int, done.stdout.split())
    assert before == 0 < after


def test_plug_ins_of_others_need_no_module_with_an_underscore() -> None:
    packs = sorted((ROOT / "tests" / "plugin").glob("*_pack/**/*.py"))
    assert len(packs) >= 3
    for pack in packs:
        imported = [
            n.module or "" for n in ast.walk(ast.parse(pack.read_text())) if isinstance(n, ast.ImportFrom)
        ]
        assert [name for name in imported if "._" in name] == [], pack


def test_the_package_itself_imports_from_where_things_are() -> None:
    """Else the layers would see an import of the package's root, and not of the layer above."""
    for path in (ROOT / "proxy" / "faultwire").rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.ImportFrom) and node.module == "faultwire":
                assert {alias.name for alias in node.names}.isdisjoint(faultwire.__all__), path
