"""A run that is `running` in a folder that nobody holds has died."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from faultwire import parent_death
from faultwire.runner.folder import RunFolder, is_held
from faultwire.runner.past_runs import runs


@pytest.mark.skipif(sys.platform == "win32", reason="no locks on folders there")
def test_a_run_is_running_for_as_long_as_its_folder_is_held(tmp_path: Path) -> None:
    folder = RunFolder.create("exec", base=tmp_path, status="running")
    assert is_held(folder.path)
    assert [run.status for run in runs(tmp_path)] == ["running"]
    assert folder._held is not None
    os.close(folder._held)  # what the system does for a process that was killed
    folder._held = None
    assert not is_held(folder.path)
    assert [run.status for run in runs(tmp_path)] == ["died"]
    folder.end("finished")
    assert [run.status for run in runs(tmp_path)] == ["finished"]


def test_what_cannot_be_asked_counts_as_held(tmp_path: Path) -> None:
    assert is_held(tmp_path / "missing")


def test_elsewhere_a_process_is_not_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "platform", "darwin")
    assert parent_death.with_parent() is None
    seen: list[int] = []
    prepare = parent_death.with_parent(lambda: seen.append(1))
    assert prepare is not None
    prepare()
    assert seen == [1]
