"""`.ci/supply.py` finds what it looks for: a bill that is not what is locked, a pin that is no file's."""

from __future__ import annotations

import importlib.util
import json
import re
import sys
import tomllib
import zipfile
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).parents[2]
WORKFLOWS = ROOT / ".github" / "workflows"


@pytest.fixture(scope="module")
def supply() -> ModuleType:
    spec = importlib.util.spec_from_file_location("supply", ROOT / ".ci" / "supply.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def bill(*parts: tuple[str, str]) -> str:
    return json.dumps({"components": [{"name": name, "version": version} for name, version in parts]})


SERDE, WASI = ("serde", "1.0"), ("wasi", "0.11")


@pytest.mark.parametrize("listed", [[SERDE, ("ours", "0")], [SERDE, WASI]])
def test_a_bill_of_what_is_needed_and_locked_passes(
    supply: ModuleType, listed: list[tuple[str, str]]
) -> None:
    assert supply.compared(bill(*listed), {SERDE}, {SERDE, WASI}, ("ours",)) is None


@pytest.mark.parametrize(
    ("listed", "needed"),
    [([SERDE, ("more", "1")], {SERDE}), ([WASI], {SERDE}), ([("serde", "1.1")], {SERDE}), ([], set())],
    ids=["one that is not locked", "one less", "another version", "nothing on either side"],
)
def test_any_other_bill_is_found(
    supply: ModuleType, listed: list[tuple[str, str]], needed: set[tuple[str, str]]
) -> None:
    assert supply.compared(bill(*listed), needed, {SERDE, WASI})


def test_a_crate_of_another_checksum_is_found(supply: ModuleType) -> None:
    locked = supply.locked_checksums()
    name, version, right = sorted(locked)[0]

    def listed(checksum: str) -> str:
        hashes = [{"alg": "SHA-256", "content": checksum}]
        return json.dumps({"components": [{"name": name, "version": version, "hashes": hashes}]})

    assert not supply.checksums(listed(right)) - locked
    assert supply.checksums(listed("0" * 64)) - locked


def test_a_bent_pin_keeps_its_form_and_none_of_its_hashes(supply: ModuleType) -> None:
    for entry in supply.entries((ROOT / ".ci" / "lock" / "runtime.txt").read_text()):
        before = re.findall(r"sha256:([0-9a-f]{64})", entry)
        after = re.findall(r"sha256:([0-9a-f]{64})", supply.bent(entry))
        assert len(before) == len(after) > 0
        assert not set(before) & set(after)
        assert supply.bent(supply.bent(entry)) == entry


def test_crates_of_this_repository_are_no_materials(supply: ModuleType) -> None:
    lines = [
        "faultwire-core v0.1.0 (/a/core_rs)",
        "pyo3-macros v0.30.1 (proc-macro)",
        "serde v1.0.229",
        "",
        "serde v1.0.229",
    ]
    assert supply.crates(lines) == {("pyo3-macros", "0.30.1"), ("serde", "1.0.229")}


def test_what_differs_between_two_archives_is_named(supply: ModuleType, tmp_path: Path) -> None:
    def made(name: str, members: dict[str, str], date: tuple[int, ...] = (2020, 1, 1, 0, 0, 0)) -> Path:
        with zipfile.ZipFile(tmp_path / name, "w") as archive:
            for member, text in members.items():
                archive.writestr(zipfile.ZipInfo(member, date), text)  # type: ignore[arg-type]
        return tmp_path / name

    one = made("1", {"a": "x", "b": "y"})
    assert supply.differing(one, made("2", {"a": "x", "b": "z"})) == ["b"]
    assert supply.differing(one, made("3", {"a": "x"})) == ["b"]
    assert supply.differing(one, made("4", {"a": "x", "b": "y"}, (2021, 1, 1, 0, 0, 0))) == ["a", "b"]
    assert supply.differing(one, made("5", {"b": "y", "a": "x"})) == ["their order"]


def test_a_control_that_passes_or_fails_for_another_reason_is_a_failure(supply: ModuleType) -> None:
    program = "import sys; sys.exit('bad hash' if sys.argv[1] == 'bad' else 0)"
    supply.refused("bad hash", sys.executable, "-c", program, "bad", cwd=ROOT)
    for argument, why in (("good", "bad hash"), ("bad", "no network")):
        with pytest.raises(SystemExit, match="control: expected a failure"):
            supply.refused(why, sys.executable, "-c", program, argument, cwd=ROOT)


def test_the_controls_of_cargo_deny_bend_what_is_there(supply: ModuleType) -> None:
    text = supply.DENY.read_text()
    for old, new, _ in supply.BANS.values():
        assert text.count(old) >= 1
        assert tomllib.loads(text.replace(old, new, 1)) != tomllib.loads(text)


def test_no_advisory_is_set_aside(supply: ModuleType) -> None:
    assert "ignore" not in tomllib.loads(supply.DENY.read_text())["advisories"]
    assert not (ROOT / ".cargo" / "audit.toml").exists()


def test_the_bill_of_a_release_is_made_by_what_validates_it(supply: ModuleType) -> None:
    assert supply.BOM in (WORKFLOWS / "release.yml").read_text()


@pytest.mark.parametrize(("workflow", "command"), [("nightly", "supply.py"), ("ci", "supply.py --deny")])
def test_a_workflow_does_it(workflow: str, command: str) -> None:
    assert f"python .ci/{command}\n" in (WORKFLOWS / f"{workflow}.yml").read_text()


def test_what_the_core_is_built_from_is_locked(supply: ModuleType) -> None:
    built, locked = supply.built_crates(), supply.locked_crates()
    assert {name for name, _ in built} >= {"pyo3", "regex", "ring"}
    assert built < locked
    assert "criterion" not in {name for name, _ in built}, "what only benchmarks use is in no wheel"
    assert "criterion" in {name for name, _ in locked}
