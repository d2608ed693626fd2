"""The tape that an engine records to."""

from __future__ import annotations

from pathlib import Path

from faultwire.mitm.engine.tape import open_tape
from faultwire.mitm.settings import EngineSettings
from faultwire.replay.settings import ReplaySettings
from faultwire.tape.read.reader import TapeReader


def test_an_engine_without_a_tape_records_nothing(tmp_path: Path) -> None:
    assert open_tape(EngineSettings(run_dir=tmp_path, ca_dir=tmp_path / "ca")) is None


def test_a_tape_is_made_with_the_keys_of_its_project(tmp_path: Path) -> None:
    state = tmp_path / "project" / ".faultwire"
    for folder in (state / "ca", tmp_path / "run"):
        folder.mkdir(parents=True)
    wanted = tmp_path / "run" / "a.tape"
    tape = open_tape(EngineSettings(run_dir=tmp_path / "run", ca_dir=state / "ca", tape=wanted))
    assert tape is not None
    tape.close()
    assert wanted.is_file()
    assert (state / "keys" / "redaction.key").stat().st_mode & 0o077 == 0


def test_redaction_rules_go_from_a_tape_to_that_of_its_replay(tmp_path: Path) -> None:
    state = tmp_path / "project" / ".faultwire"
    for folder in (state / "ca", tmp_path / "run"):
        folder.mkdir(parents=True)
    base = EngineSettings(run_dir=tmp_path / "run", ca_dir=state / "ca", tape=tmp_path / "run" / "a.tape")
    first = open_tape(base.model_copy(update={"redact": {"pii": True}}))
    assert first is not None
    first.close()
    own = {"headers": ["x-tenant-*"]}
    replay = ReplaySettings(tape=first.path)
    again = open_tape(
        base.model_copy(update={"redact": own, "replay": replay, "tape": tmp_path / "run" / "b.tape"})
    )
    assert again is not None
    again.close()
    found = []
    for path in (first.path, again.path):
        with TapeReader.open(path) as reader:
            found.append(reader.info().settings["redact"])
    assert found == [{"pii": True}, {"pii": True, **own}]
