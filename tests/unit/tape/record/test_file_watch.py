"""Somebody takes the files of a tape away while it is written."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from faultwire.errors import TapeError
from faultwire.runner import closed_tape
from faultwire.tape.record.file_watch import FileWatch
from faultwire.tape.record.writer import TapeWriter


def removed(log: Path) -> None:
    log.unlink()


def replaced(log: Path) -> None:
    log.rename(log.with_suffix(".old"))
    log.touch(0o600)


def cut(log: Path) -> None:
    os.truncate(log, 0)


def recorded(path: Path, attack: Callable[[Path], None] | None) -> str | None:
    writer = TapeWriter.create(path, origin="p/t", settings={})
    writer.note("one", "before")
    writer.flush()
    if attack is not None:
        attack(path.with_name(f"{path.name}-wal"))
    writer.note("two", "after")
    writer.flush()
    writer.close()
    return writer.failed


@pytest.mark.parametrize(
    ("attack", "how"), [(removed, "was removed"), (replaced, "was replaced"), (cut, "was cut short")]
)
def test_a_log_that_is_taken_away_fails_the_tape(
    attack: Callable[[Path], None], how: str, tmp_path: Path
) -> None:
    assert recorded(tmp_path / "t.tape", attack) == f"its write-ahead log {how} while it was written"


def test_a_tape_that_is_left_alone_does_not_fail_and_verifies(tmp_path: Path) -> None:
    assert recorded(tmp_path / "t.tape", None) is None
    closed_tape.check(tmp_path / "t.tape")


def test_without_the_watch_a_replaced_tape_ends_well(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(FileWatch, "check", lambda _: None)
    monkeypatch.setattr(FileWatch, "read_back", lambda *_: None)
    assert recorded(tmp_path / "t.tape", removed) is None


def test_the_last_commit_is_read_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(FileWatch, "check", lambda _: None)
    path = tmp_path / "t.tape"
    whole = tmp_path / "other.tape"
    assert recorded(whole, None) is None

    def swap(log: Path) -> None:
        path.unlink()
        whole.rename(path)

    assert recorded(path, swap) is not None


def test_a_closed_tape_that_does_not_verify_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "t.tape"
    assert recorded(path, None) is None
    data = bytearray(path.read_bytes())
    at = data.index(b'"before"')
    data[at + 1] ^= 1
    path.write_bytes(bytes(data))
    with pytest.raises(TapeError, match="does not verify"):
        closed_tape.check(path)
    path.unlink()
    with pytest.raises(TapeError, match="is gone"):
        closed_tape.check(path)
