from __future__ import annotations

from pathlib import Path

import pytest

from faultwire.errors import TapeTampered
from faultwire.runner.several_engines import engine_count, join_tapes
from faultwire.tape.evidence.keyring import KeyRing
from faultwire.tape.evidence.verify import verify
from faultwire.tape.read.reader import TapeReader
from faultwire.tape.record.writer import TapeWriter
from faultwire.tape.redact.redactor import load_key


@pytest.mark.parametrize(
    ("wanted", "sessions", "cores", "count"),
    [
        (1, 10, 8, 1),
        (4, 10, 2, 4),
        (4, 3, 8, 3),  # never more than there are sessions at once
        ("auto", 10, 8, 7),
        ("auto", 10, 2, 1),
        ("auto", 10, 1, 1),
        ("auto", 2, 8, 2),
    ],
)
def test_how_many_engines_are_started(wanted: int | str, sessions: int, cores: int, count: int) -> None:
    assert engine_count(wanted, sessions, cores) == count


def recorded(base: Path, path: Path, *sessions: str) -> Path:
    writer = TapeWriter.create(
        path,
        origin=f"p/{path.stem}",
        settings={},
        key=load_key(base / "keys" / "redaction.key"),
        signer=KeyRing(base / "keys").signer_or_new("p"),
    )
    for name in sessions:
        writer.open_session(name, profile="calm", profile_digest="0" * 64, seed=1, agent="")
        writer.close_session(name)
    writer.close()
    return path


def test_the_tapes_of_all_engines_become_the_tape_of_the_run(tmp_path: Path) -> None:
    base = tmp_path / ".faultwire"
    tapes = [recorded(base, tmp_path / "one.tape", "a", "c"), recorded(base, tmp_path / "two.tape", "b")]
    join_tapes(tapes, tmp_path / "run.tape", base)
    with TapeReader.open(tmp_path / "run.tape") as tape:
        assert {info.name for info in tape.sessions()} == {"a", "b", "c"}
        made_of = tape.info().settings["made_of"]
    assert [one["root"] for one in made_of] == [verify(tape).root for tape in tapes]


def test_a_changed_tape_of_one_engine_is_no_part_of_a_run(tmp_path: Path) -> None:
    base = tmp_path / ".faultwire"
    tapes = [recorded(base, tmp_path / "one.tape", "a"), recorded(base, tmp_path / "two.tape", "before")]
    data = tapes[1].read_bytes()
    assert b"before" in data
    tapes[1].write_bytes(data.replace(b"before", b"behind"))
    with pytest.raises(TapeTampered) as caught:
        join_tapes(tapes, tmp_path / "run.tape", base)
    assert "two.tape" in caught.value.message
    assert not (tmp_path / "run.tape").exists()
