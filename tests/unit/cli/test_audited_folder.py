from __future__ import annotations

from pathlib import Path

import pytest

from faultwire.cli import _audited_folder
from faultwire.cli._audited_folder import Snapshot


def test_each_run_gets_the_folder_as_it_was_at_the_same_path(tmp_path: Path) -> None:
    folder, place = tmp_path / "agent", tmp_path / "place"
    (folder / "sub").mkdir(parents=True)
    (folder / ".venv").mkdir()
    (folder / ".faultwire").mkdir()
    (folder / "sub" / "data").write_text("1")
    (folder / "link").symlink_to("sub/data")
    place.mkdir()
    snapshot = Snapshot.take(folder, place)
    first = snapshot.fresh()
    (first / "sub" / "data").write_text("2")
    (first / "left").write_text("behind")
    again = snapshot.fresh()
    assert again == first
    assert (again / "sub" / "data").read_text() == "1"
    assert (again / "link").read_text() == "1"
    assert sorted(path.name for path in again.iterdir()) == [".venv", "link", "sub"]
    assert (folder / "sub" / "data").read_text() == "1"
    assert (again / ".venv").is_symlink()


def test_a_folder_that_is_too_large_is_not_copied(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_audited_folder, "FILES", 2)
    folder, place = tmp_path / "agent", tmp_path / "place"
    for path in (folder, place):
        path.mkdir()
    for name in "abc":
        (folder / name).write_text(name)
    assert "holds more than is copied" in Snapshot.take(folder, place).why_not
    assert list(place.iterdir()) == []
