"""The nightly workflow: every fuzzer that there is has a job, and the kills of its parts are a thousand."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

import pytest
import yaml
from tests.attacks import kill_rounds
from tests.fuzz.targets import named

ROOT = Path(__file__).parents[2]
FUZZ = ROOT / "core_rs" / "fuzz"
KILLS = 1000


def job(name: str) -> dict[str, Any]:
    text = (ROOT / ".github/workflows/nightly.yml").read_text()
    found: dict[str, Any] = yaml.safe_load(text)["jobs"][name]
    return found


def left_out(job: dict[str, Any], targets: set[str]) -> set[str]:
    """Targets without a job, and jobs without a target."""
    return set(job["strategy"]["matrix"]["target"]) ^ targets


def guided() -> set[str]:
    return {one["name"] for one in tomllib.loads((FUZZ / "Cargo.toml").read_text())["bin"]}


@pytest.mark.parametrize(("name", "targets"), [("fuzz", set(named())), ("fuzz-core-guided", guided())])
def test_every_target_is_fuzzed_at_night(name: str, targets: set[str]) -> None:
    assert left_out(job(name), targets) == set()
    assert left_out(job(name), targets | {"another"}) == {"another"}


def test_every_target_that_coverage_guides_has_seeds_and_is_no_part_of_the_workspace() -> None:
    seeds = {folder.name for folder in (FUZZ / "seeds").iterdir() if any(folder.iterdir())}
    assert seeds == guided()
    workspace = tomllib.loads((ROOT / "Cargo.toml").read_text())["workspace"]
    assert "core_rs/fuzz" not in workspace["members"]
    assert "workspace" in tomllib.loads((FUZZ / "Cargo.toml").read_text())
    kept = sum(path.stat().st_size for path in (FUZZ / "seeds").rglob("*") if path.is_file())
    assert kept < 100_000, "a corpus in the repository stays small"


def test_the_kills_of_a_night_are_a_thousand_without_a_gap() -> None:
    kills = job("kills")
    (command,) = (step["run"] for step in kills["steps"] if "kill_rounds" in step.get("run", ""))
    rounds = int(command.split("--rounds ")[1].split()[0])
    firsts = kills["strategy"]["matrix"]["first"]
    numbers = [number for first in firsts for number in range(first, first + rounds)]
    assert numbers == list(range(len(numbers)))
    assert len(numbers) >= KILLS
    victims = [kill_rounds.VICTIMS[number % len(kill_rounds.VICTIMS)] for number in numbers]
    assert min(map(victims.count, kill_rounds.VICTIMS)) >= KILLS // 3
