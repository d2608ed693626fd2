"""The nightly workflow: every fuzzer that there is has a job, the kills of its parts are a thousand, and the
long forms of what the pages name are run."""

from __future__ import annotations

import ast
import re
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


PAGES = ("failures", "reliability", "security")
NAMED = re.compile(r"`(tests/[\w/]+/test_\w+\.py)")


def is_long(path: str) -> bool:
    """Is there a test in it that only runs at night?"""
    marks = (
        node for node in ast.walk(ast.parse((ROOT / path).read_text())) if isinstance(node, ast.Attribute)
    )
    return any(node.attr in ("nightly", "by_day") for node in marks)


def unrun(pages: str, parts: list[str]) -> list[str]:
    """Files that these pages name, that have a test of the night, and that no part of the job has."""
    given = [Path(path) for part in parts for path in part.split()]
    named = sorted(set(NAMED.findall(pages)))
    return [
        path for path in named if is_long(path) and not any(Path(path).is_relative_to(one) for one in given)
    ]


def test_the_long_forms_of_what_is_promised_attacked_and_broken_run_at_night() -> None:
    night = job("reliability")
    parts = night["strategy"]["matrix"]["part"]
    assert any(step.get("run") == "python -m pytest -q -n 2 -m nightly $PART" for step in night["steps"])
    text = "".join((ROOT / f"docs/explanation/{page}.md").read_text() for page in PAGES)
    assert unrun(text, parts) == []
    assert "tests/e2e/tape/test_power_loss.py" in unrun(text, parts[:1]), "the control"
    assert all((ROOT / path).exists() for part in parts for path in part.split())


@pytest.mark.parametrize(
    ("name", "command"),
    [
        ("streams", "ulimit -n 20000 && python -m tests.attacks.many_streams"),
        ("steady", "python -m tests.e2e.soak.steady --minutes 120"),
    ],
)
def test_what_is_a_command_of_its_own_runs_at_night(name: str, command: str) -> None:
    assert command in [step.get("run") for step in job(name)["steps"]]
