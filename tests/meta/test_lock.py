"""The lock of what the command needs: complete, within the ranges of `pyproject.toml`, and by hash alone."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).parents[2]
LOCK = ROOT / ".ci" / "lock" / "runtime.txt"
PYTHONS = ("3.11", "3.12", "3.13")
HASH = re.compile(r"--hash=sha256:[0-9a-f]{64}\Z")


def faults(lock: str, needs: list[str]) -> list[str]:
    """What is wrong with a lock: a pin without a hash, a need without a pin or outside its range."""
    pins: list[Requirement] = []
    found = []
    for entry in re.split(r"\n(?=\S)", lock.strip()):
        pin, *hashes = (part.strip() for part in entry.split("\\\n"))
        pins.append(Requirement(pin))
        if not re.fullmatch(r"==[^,*]+", str(pins[-1].specifier)) or pins[-1].url:
            found.append(f"{pin}: expected one version")
        if not hashes or not all(HASH.match(one) for one in hashes):
            found.append(f"{pin}: expected hashes (sha256) and nothing else")
    for need in map(Requirement, needs):
        for python in PYTHONS:
            place = {"python_version": python, "python_full_version": f"{python}.0", "sys_platform": "linux"}
            versions = [
                str(pin.specifier).removeprefix("==")
                for pin in pins
                if canonicalize_name(pin.name) == canonicalize_name(need.name)
                and (pin.marker is None or pin.marker.evaluate(place))
            ]
            if len(versions) != 1 or not need.specifier.contains(versions[0]):
                found.append(f"{need} on {python}: pinned to {versions}")
    return found


def test_every_dependency_is_pinned_by_hash_within_its_range() -> None:
    needs = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["dependencies"]
    assert faults(LOCK.read_text(), needs) == []


def test_no_address_of_an_index_is_in_the_lock() -> None:
    assert not re.search(r"://|--(extra-)?index-url|--find-links|--trusted-host", LOCK.read_text())


@pytest.mark.parametrize(
    ("lock", "need"),
    [
        ("click==8.4.0 \\\n    --hash=sha256:" + "0" * 64, "click>=9"),
        ("click==8.4.0 \\\n    --hash=md5:" + "0" * 32, "click>=8"),
        ("click==8.4.0", "click>=8"),
        ("click>=8 \\\n    --hash=sha256:" + "0" * 64, "click>=8"),
        ("click==8.4.0 ; python_full_version >= '3.12' \\\n    --hash=sha256:" + "0" * 64, "click>=8"),
        ("other==1 \\\n    --hash=sha256:" + "0" * 64, "click>=8"),
    ],
)
def test_a_lock_that_would_not_hold_is_found(lock: str, need: str) -> None:
    assert faults(lock, [need])


def test_a_lock_that_holds_passes() -> None:
    assert faults("click==8.4.0 \\\n    --hash=sha256:" + "0" * 64, ["click>=8"]) == []


WORKFLOW = ROOT / ".github" / "workflows" / "ci.yml"


def test_what_cannot_be_audited_fails_the_job() -> None:
    """Where an index has no advisories pip-audit ends with 1 if it is `--strict`, else with 0."""
    commands = [line.strip() for line in WORKFLOW.read_text().splitlines() if "bin/pip-audit " in line]
    assert len(commands) == 1
    words = commands[0].split()
    assert {"--strict", "--require-hashes", ".ci/lock/runtime.txt"} <= set(words)
