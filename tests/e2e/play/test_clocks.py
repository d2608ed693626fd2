"""Clocks that are an hour off (libfaketime): leases, links and garbage go by nobody else's clock."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from tests.e2e.play.test_on import CONTRACT, outcome, write
from tests.e2e.store.test_push import made

from faultwire.store.objects import Objects
from faultwire.store.tapes import push

FAKETIME = shutil.which("faketime")
pytestmark = pytest.mark.skipif(
    FAKETIME is None, reason="it needs faketime (Debian: apt-get install faketime)"
)


SLEEP = """import select, time
time.sleep = lambda seconds: select.select([], [], [], seconds)
"""
"""libfaketime refuses the system call behind Python's own sleep where it leaves the monotonic clock alone."""


def at(offset: str, folder: Path) -> list[str]:
    """A command before others whose wall clock is this much off; how time passes is left alone."""
    assert FAKETIME is not None
    site = folder / "site"
    site.mkdir(exist_ok=True)
    (site / "sitecustomize.py").write_text(SLEEP)
    return ["env", f"PYTHONPATH={site}", "FAKETIME_DONT_FAKE_MONOTONIC=1", FAKETIME, "-f", offset]


@pytest.mark.nightly
@pytest.mark.timeout(600)
@pytest.mark.parametrize("offset", ["+1h", "-1h"])
def test_workers_whose_clock_is_an_hour_off_lose_no_lease_and_change_nothing(
    project: Any, offset: str
) -> None:
    write(project, 3)
    assert project.run(*CONTRACT).returncode == 0
    alone = outcome(project)
    script = project.folder / "other-python"
    script.write_text(f'#!/bin/sh\nexec {" ".join(at(offset, project.folder))} {sys.executable} "$@"\n')
    script.chmod(0o755)
    done = project.run(*CONTRACT, "--on", "local:2", "--worker-python", str(script))
    assert done.returncode == 0, done.stderr
    assert outcome(project) == alone
    assert not any("lost" in text for text in project.document()["run"]["warnings"])
    assert project.run("tape", "verify", str(project.runs[-1] / "run.tape")).returncode == 0


@pytest.mark.nightly
@pytest.mark.timeout(600)
def test_a_run_whose_own_clock_is_an_hour_off_keeps_its_leases(project: Any) -> None:
    write(project, 3)
    assert project.run(*CONTRACT).returncode == 0
    words = [*at("-1h", project.folder), sys.executable, "-m", "faultwire", *CONTRACT, "--on", "local:2"]
    alone = outcome(project)
    done = subprocess.run(words, cwd=project.folder, capture_output=True, text=True, timeout=500, check=False)
    assert done.returncode == 0, done.stderr
    document = project.about()
    assert (document["ledger"], document["gate"]) == (alone[0], "pass")


LET_IN = """
import sys
from faultwire.store import tokens
from faultwire.store.database import open_engine
print(tokens.look_up(open_engine(sys.argv[1]), sys.argv[2]) is not None)
"""


@pytest.mark.parametrize(
    ("made_at", "asked_at", "days", "valid"),
    [
        ("+0", "+0", 0.5 / 24, True),
        ("+0", "+1h", 0.5 / 24, False),
        ("+0", "+1h", 1.5 / 24, True),
        ("-1h", "+0", 0.5 / 24, False),
        ("-1h", "+0", 1.5 / 24, True),
        ("+1h", "+0", 0.5 / 24, True),
        ("+1h", "+2h", 0.5 / 24, False),
    ],
)
def test_a_token_ends_by_the_clock_of_who_is_asked_and_lives_no_longer_than_the_clocks_differ(
    tmp_path: Path, made_at: str, asked_at: str, days: float, valid: bool
) -> None:
    url = f"sqlite:///{tmp_path}/team.db"
    add = ["token", "add", "ci", "--role", "viewer", "--store", url, "--project", "shop", "--days", str(days)]
    words = [*at(made_at, tmp_path), sys.executable, "-m", "faultwire", *add]
    done = subprocess.run(words, capture_output=True, text=True, check=True, timeout=120)
    asked = [*at(asked_at, tmp_path), sys.executable, "-c", LET_IN, url, done.stdout.strip()]
    let_in = subprocess.run(asked, capture_output=True, text=True, check=True, timeout=120).stdout.strip()
    assert let_in == str(valid)


@pytest.mark.parametrize(("offset", "removed"), [("+1h", 0), ("-1h", 0), ("+25h", 1)])
def test_garbage_of_an_upload_that_is_under_way_is_left_alone_by_a_clock_an_hour_off(
    tmp_path: Path, offset: str, removed: int
) -> None:
    """The control: one that is a day off removes it."""
    team = tmp_path / "team"
    team.mkdir()
    objects = Objects(str(team))
    (tape,) = made(tmp_path, 1)
    push(objects, tape, "shop")
    objects.put("blobs/aa/" + "a" * 64, b"a piece without a manifest yet")
    words = [*at(offset, tmp_path), sys.executable, "-m", "faultwire", "gc", "--tapes", str(team)]
    done = subprocess.run(
        words, capture_output=True, text=True, timeout=120, check=False, env=dict(os.environ)
    )
    assert done.returncode == 0, done.stderr
    assert f"removed {removed} piece" in done.stderr
    assert (objects.get("blobs/aa/" + "a" * 64) is None) is bool(removed)
