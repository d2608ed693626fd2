"""A check of somebody else's package is found, documented and judged with like our own."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

USE = """
from faultwire.checks._registry import make
from faultwire.events import AgentResult, History

check = make("polite", {"word": "bitte", "severity": "low"})
print(check.verdict(History("s", (), AgentResult("ja bitte", 0, 1.0))).verdict)
print(check.verdict(History("s", (), AgentResult("ja", 0, 1.0))).verdict)
"""


@pytest.fixture
def site(tmp_path: Path, installed) -> Path:
    return installed("check_pack", tmp_path / "site")


def test_it_judges_like_any_other(site, python):
    done = python(site, "-c", USE)
    assert (done.returncode, done.stdout, done.stderr) == (0, "pass\nfail\n", "")


def test_it_is_listed_and_documented(site, python):
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


@pytest.mark.by_day("entry_points0")
@pytest.mark.parametrize(
    ("entry_points", "words"),
    [
        ({"completes": "check_pack:Polite"}, "adds check `completes`, which there is already"),
        ({"rude": "check_pack:Polite"}, "is called `polite`"),
        ({"rude": "nowhere:Rude"}, "failed to load: ModuleNotFoundError"),
    ],
)
def test_a_package_that_fails_stops_everything_and_is_named(site, python, install_bad, entry_points, words):
    install_bad(site, "faultwire.checks", entry_points)
    done = python(site, "-m", "faultwire", "checks", "list")
    assert done.returncode == 3
    assert done.stdout == ""
    assert "of `bad-pack`" in done.stderr
    assert words in done.stderr
    assert done.stderr.endswith("hint: fix or uninstall `bad-pack`\n")
