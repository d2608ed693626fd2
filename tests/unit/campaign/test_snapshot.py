"""A sealed copy of a tape that is still recorded: whole, the first part of what follows, and never torn."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.unit.tape.conftest import LINE, Deck

from faultwire.campaign import snapshot as snapshots
from faultwire.campaign.snapshot import TRIES, snapshot
from faultwire.errors import TapeError
from faultwire.events import Response
from faultwire.tape.evidence.signed_note import SignerKey
from faultwire.tape.evidence.verify import evidence_class, verify
from faultwire.tape.format.file import log_of
from faultwire.tape.read.reader import TapeReader
from faultwire.tape.record.writer import TapeWriter

SIGNER = SignerKey("shop", b"s" * 32)


class Recorder:
    """A tape that is being recorded."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.writer = TapeWriter.create(path, origin="shop/run", settings={}, key=b"k" * 32, signer=SIGNER)

    def session(self, name: str) -> None:
        self.writer.open_session(name, profile="calm", profile_digest="d", seed=7)
        recording = Deck(self.path, self.writer).begin(session=name)
        recording.upstream_head(Response(200, "OK", ()))
        recording.end("complete", None, (LINE,))
        self.writer.close_session(name)
        self.writer.flush()


@pytest.fixture
def recorder(tmp_path: Path) -> Iterator[Recorder]:
    made = Recorder(tmp_path / "run.tape")
    yield made
    made.writer.close()


def sessions(tape: Path) -> list[str]:
    with TapeReader.open(tape) as reader:
        return [info.name for info in reader.sessions()]


def test_it_is_authoritative_and_the_recorder_goes_on(recorder: Recorder, tmp_path: Path) -> None:
    recorder.session("a")
    snapshot(recorder.path, tmp_path / "one.tape", SIGNER)
    recorder.session("b")
    snapshot(recorder.path, tmp_path / "two.tape", SIGNER)
    for tape, names in (("one.tape", ["a"]), ("two.tape", ["a", "b"])):
        report = verify(tmp_path / tape, (SIGNER.verifier,), demanded=True)
        assert evidence_class(report) == ("AUTHORITATIVE", []), report.findings
        assert sessions(tmp_path / tape) == names
    recorder.session("c")
    recorder.writer.close()
    assert evidence_class(verify(recorder.path, (SIGNER.verifier,)))[0] == "AUTHORITATIVE"
    assert sessions(recorder.path) == ["a", "b", "c"]


def test_a_tape_that_changes_while_it_is_copied_is_copied_again(
    recorder: Recorder, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    recorder.session("a")
    copies = busy(recorder, monkeypatch, changes=1)
    snapshot(recorder.path, tmp_path / "one.tape", SIGNER)
    assert copies == [1, 2]
    assert sessions(tmp_path / "one.tape") == ["a", "late1"]


def test_a_tape_that_changes_all_the_time_is_refused(
    recorder: Recorder, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    recorder.session("a")
    copies = busy(recorder, monkeypatch, changes=99)
    with pytest.raises(TapeError, match="it is written to all the time"):
        snapshot(recorder.path, tmp_path / "one.tape", SIGNER)
    assert len(copies) == TRIES


def busy(recorder: Recorder, monkeypatch: pytest.MonkeyPatch, changes: int) -> list[int]:
    """Record another session before each of the first copies; how many copies are made."""
    copies, copy = list[int](), snapshots._copy

    def copied(tape: Path, target: Path) -> None:
        copies.append(len(copies) + 1)
        if len(copies) <= changes:
            recorder.session(f"late{len(copies)}")
        copy(tape, target)

    monkeypatch.setattr(snapshots, "_copy", copied)
    return copies


@pytest.mark.parametrize("part", [b"calm", b"shop/run"])
def test_a_copy_that_was_cut_or_changed_on_its_way_is_not_taken(
    recorder: Recorder, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, part: bytes
) -> None:
    recorder.session("a")
    copy = snapshots._copy

    def bent(tape: Path, target: Path) -> None:
        copy(tape, target)
        for path in (target, log_of(target)):  # in the log, SQLite takes it for the end of what was written
            path.write_bytes(path.read_bytes().replace(part, part.upper()))

    monkeypatch.setattr(snapshots, "_copy", bent)
    with pytest.raises(TapeError, match="no copy of tape"):
        snapshot(recorder.path, tmp_path / "one.tape", SIGNER)
    assert [path.name for path in tmp_path.glob("one.*")] == []
