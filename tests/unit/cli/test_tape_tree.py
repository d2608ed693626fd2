"""`faultwire tape tree`: parentage on a terminal, whatever a tape says of itself."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner

from faultwire.cli import main
from faultwire.cli.tape_tree import tree
from faultwire.tape.record.writer import TapeWriter


def tape(path: Path, settings: dict[str, object]) -> Path:
    writer = TapeWriter.create(path, origin="p/t", settings=settings, key=b"k" * 32)
    writer.open_session("exec", profile="", profile_digest="", seed=1, agent="")
    writer.close_session("exec")
    writer.close()
    return path


def test_a_hostile_tape_is_escaped(tmp_path: Path) -> None:
    parent = {"tape": "x\n\x1b[31mred", "events": 3, "root": "ab"}
    fork = {"at": "exec#1\nfake line", "change": {"set\x1b[2J": 1}, "tail": "live\u202e"}
    tape(tmp_path / "t.tape", {"made_by": "fork", "made_of": [parent], "fork": fork})
    done = CliRunner().invoke(tree, [str(tmp_path)])
    assert done.exit_code == 0
    assert done.output.count("\n") == 1
    for text in ("\x1b", "\u202e"):
        assert text not in done.output
    assert "which was not found" in done.output


def test_an_empty_list_of_tapes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert CliRunner().invoke(main, ["tape", "tree"]).output == "no tapes\n"
    assert CliRunner().invoke(main, ["tape", "tree", "--format", "json"]).output == "[]\n"
    assert CliRunner().invoke(main, ["tape", "tree", "absent"]).exit_code == 2
