"""`ca remove` leaves no key behind, not even that of runs with a frozen clock."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from click.testing import CliRunner

from faultwire.cli import main


def test_every_authority_is_removed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert CliRunner().invoke(main, ["ca", "renew"]).exit_code == 0
    base = tmp_path / ".faultwire"
    shutil.copytree(base / "ca", base / "ca-frozen")
    keys = {path.parent.name for path in base.rglob("*.pem")}
    assert keys == {"ca", "ca-frozen"}
    said = CliRunner().invoke(main, ["ca", "remove"])
    assert said.exit_code == 0
    assert said.stderr.count("removed the CA in") == 2
    assert not [path for path in base.rglob("*") if path.is_file() and b"PRIVATE" in path.read_bytes()]
    assert "nothing to remove" in CliRunner().invoke(main, ["ca", "remove"]).stderr
