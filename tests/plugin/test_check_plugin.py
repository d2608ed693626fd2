"""A check of somebody else's package is found, documented and judged with like our own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

PACK = Path(__file__).parent / "check_pack"
USE = """
from faultwire.checks._registry import make
from faultwire.events import AgentResult, History

check = make("polite", {"word": "bitte", "severity": "low"})
print(check.verdict(History("s", (), AgentResult("ja bitte", 0, 1.0))).verdict)
print(check.verdict(History("s", (), AgentResult("ja", 0, 1.0))).verdict)
"""


def installed(site: Path, name: str, entry_points: dict[str, str]) -> None:
    """What `pip install` leaves behind of a package, as far as entry points need it."""
    info = site / f"{name.replace('-', '_')}-1.0.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
    lines = "".join(f"{key} = {value}\n" for key, value in entry_points.items())
    (info / "entry_points.txt").write_text(f"[faultwire.checks]\n{lines}")


@pytest.fixture
def site(tmp_path: Path) -> Path:
    project = tomllib.loads((PACK / "pyproject.toml").read_text())["project"]
    installed(tmp_path, project["name"], project["entry-points"]["faultwire.checks"])
    (tmp_path / "check_pack.py").write_bytes((PACK / "check_pack.py").read_bytes())
    return tmp_path


def python(site: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    path = os.pathsep.join([str(site), *filter(None, [os.environ.get("PYTHONPATH"), *sys.path])])
    return subprocess.run(
        [sys.executable, *arguments],
        env=os.environ | {"PYTHONPATH": path},
        cwd=site,
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )


def test_it_judges_like_any_other(site):
    done = python(site, "-c", USE)
    assert (done.returncode, done.stdout, done.stderr) == (0, "pass\nfail\n", "")


def test_it_is_listed_and_documented(site):
    listed = python(site, "-m", "faultwire", "checks", "list", "--format", "json")
    assert listed.returncode == 0, listed.stderr
    assert json.loads(listed.stdout)[-1] == {
        "name": "polite",
        "judges": "answer",
        "summary": "The agent says please.",
    }
    shown = python(site, "-m", "faultwire", "checks", "show", "polite")
    assert shown.returncode == 0, shown.stderr
    assert "the word to say" in shown.stdout


@pytest.mark.parametrize(
    ("entry_points", "words"),
    [
        ({"completes": "check_pack:Polite"}, "adds check `completes`, which there is already"),
        ({"rude": "check_pack:Polite"}, "is called `polite`"),
        ({"rude": "nowhere:Rude"}, "failed to load: ModuleNotFoundError"),
    ],
)
def test_a_package_that_fails_stops_everything_and_is_named(site, entry_points, words):
    installed(site, "bad-pack", entry_points)
    done = python(site, "-m", "faultwire", "checks", "list")
    assert done.returncode == 3
    assert done.stdout == ""
    assert "of `bad-pack`" in done.stderr
    assert words in done.stderr
    assert done.stderr.endswith("hint: mend or uninstall `bad-pack`\n")
