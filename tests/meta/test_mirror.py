"""Every source file has its test, and the house stays readable."""

from __future__ import annotations

from pathlib import Path

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "proxy" / "faultwire"
UNIT = ROOT / "tests" / "unit"

COVERED_ELSEWHERE = {
    # file: the tests through which it is exercised, because it only runs in a process of its own
    "__main__.py": "tests/e2e/exec",
    "mitm/__main__.py": "tests/e2e/engine",
    "mitm/engine/main.py": "tests/e2e/engine",
    "mock/__main__.py": "tests/e2e/exec",
    "demo/agent.py": "tests/e2e/demo",
}
LONGEST = 320
"""Lines; the aim is 100 to 250."""


def sources() -> list[Path]:
    return [
        path
        for path in sorted(PACKAGE.rglob("*.py"))
        if path.name != "__init__.py" and "_data" not in path.parts and path.read_text().strip()
    ]


def names_in_tests() -> str:
    return "\n".join(path.read_text() for path in (ROOT / "tests").rglob("*.py"))


def test_every_package_has_a_test_folder_and_every_module_is_named_in_a_test() -> None:
    text = names_in_tests()
    missing = []
    for path in sources():
        inside = str(path.relative_to(PACKAGE))
        if inside in COVERED_ELSEWHERE:
            assert (ROOT / COVERED_ELSEWHERE[inside]).is_dir(), inside
            continue
        dotted = "faultwire." + inside.removesuffix(".py").replace("/", ".")
        package, _, module = dotted.rpartition(".")
        if dotted not in text and f"from {package} import" not in text:
            missing.append(dotted)
        if dotted not in text and module not in text:
            missing.append(dotted)
    assert sorted(set(missing)) == []


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
        "profiles",
        "replays",
        "tests",
    }
    ignored = {"target", "dist", "build", "__pycache__"}
    extra = {p.name for p in ROOT.iterdir() if not p.name.startswith(".")} - tracked - ignored
    assert extra == set()
