"""A log of certificates only grows, and says when it is not what was signed."""

from __future__ import annotations

import multiprocessing
import shutil
from pathlib import Path

import pytest
from tests.unit.certificate.witnessed import OURS, entry, log, witness

from faultwire import _core
from faultwire.certificate import log as module
from faultwire.certificate.cosignature import EMPTY
from faultwire.certificate.log import CHECKPOINT, PENDING, CertificateLog, LogError, contents, root_of
from faultwire.certificate.submission import cosignature
from faultwire.tape.evidence.signed_note import SignerKey, parse


def filled(folder: Path, count: int, fork: str = "") -> None:
    with log(folder) as made:
        for number in range(len(made.leaves), count):
            assert made.append(entry(number, fork)) == number


def test_entries_are_there_again_with_the_root_that_the_log_signs(tmp_path: Path) -> None:
    filled(tmp_path, 3)
    filled(tmp_path, 258)
    found = contents(tmp_path, OURS.verifier)
    assert found.entries == tuple(entry(number) for number in range(258))
    assert found.leaves == [_core.leaf_hash(one) for one in found.entries]
    assert (found.cosigned, found.published) == (EMPTY, None)
    with log(tmp_path) as made:
        assert made.text.split("\n")[:2] == [OURS.name, "258"]
        assert made.key == OURS.verifier


def test_what_was_cosigned_is_published_with_its_witness(tmp_path: Path) -> None:
    with witness(tmp_path / "w") as near, log(tmp_path / "log") as made:
        made.append(entry(0))
        note = made.publish([cosignature(made, near)])
        assert made.known(near.key) == 0, "it was not known as this log was opened"
    assert (tmp_path / "log" / CHECKPOINT).read_text() == note
    assert parse(note).signed_by(OURS.verifier)
    with log(tmp_path / "log") as again:
        assert (again.known(near.key), again.cosigned) == (1, 1)
    with witness(tmp_path / "x") as other, log(tmp_path / "log") as again:
        assert again.known(other.key) == 0


def test_an_entry_that_no_witness_has_seen_stays(tmp_path: Path) -> None:
    with witness(tmp_path / "w") as near, log(tmp_path / "log") as made:
        made.append(entry(0))
        made.publish([cosignature(made, near)])
        made.append(entry(1))
    with log(tmp_path / "log") as again:
        assert (len(again.leaves), again.cosigned) == (2, 1)


def test_a_changed_log_is_refused(tmp_path: Path) -> None:
    folder = tmp_path / "log"
    with witness(tmp_path / "w") as near, log(folder) as made:
        for number in range(3):
            made.append(entry(number))
        made.publish([cosignature(made, near)])
    whole = tmp_path / "whole"
    shutil.copytree(folder, whole)

    def bent(name: str, change: bytes | None) -> str:
        shutil.rmtree(folder)
        shutil.copytree(whole, folder)
        path = folder / name
        data = path.read_bytes()
        if change is None:
            path.unlink()
        else:
            path.write_bytes(change or data[:-1])
        with pytest.raises(LogError) as caught:
            contents(folder, OURS.verifier)
        return caught.value.message

    bundle = "tile/entries/000.p/3"
    data = (whole / bundle).read_bytes()
    assert "do not give the root" in bent(bundle, data.replace(entry(1), entry(9)))
    assert "is damaged" in bent(bundle, b"")
    assert "cannot read" in bent(bundle, None)
    assert "found no checkpoint" in bent(CHECKPOINT, b"")
    other = SignerKey(OURS.name, b"\x0c" * 32)
    text = (whole / CHECKPOINT).read_text().partition("\n\n")[0] + "\n"
    assert "is not signed by the log" in bent(CHECKPOINT, other.sign(text).encode())
    elsewhere = text.replace(OURS.name, "elsewhere")
    assert "is not signed by the log" in bent(CHECKPOINT, OURS.sign(elsewhere).encode())
    assert contents(whole, OURS.verifier).cosigned.size == 3, "the whole one is read"


def test_a_log_that_did_not_grow_out_of_the_cosigned_tree_is_refused(tmp_path: Path) -> None:
    with witness(tmp_path / "w") as near, log(tmp_path / "log") as made:
        for number in range(3):
            made.append(entry(number))
        made.publish([cosignature(made, near)])
    filled(tmp_path / "fork", 5, "fork")
    shutil.copy(tmp_path / "log" / CHECKPOINT, tmp_path / "fork")
    with pytest.raises(LogError, match="did not grow out of the tree that was cosigned"):
        contents(tmp_path / "fork", OURS.verifier)


def test_an_older_pending_tree_does_not_hide_the_cosigned_one(tmp_path: Path) -> None:
    with witness(tmp_path / "w") as near, log(tmp_path) as made:
        made.append(entry(0))
        old = (tmp_path / PENDING).read_bytes()
        made.append(entry(1))
        made.publish([cosignature(made, near)])
    (tmp_path / PENDING).write_bytes(old)
    assert len(contents(tmp_path, OURS.verifier).entries) == 2


def _grow(folder: Path) -> None:
    for number in range(5):
        with log(folder) as made:
            made.append(entry(number))


def test_processes_take_turns(tmp_path: Path) -> None:
    each = [multiprocessing.get_context("fork").Process(target=_grow, args=(tmp_path,)) for _ in range(4)]
    for one in each:
        one.start()
    for one in each:
        one.join(60)
    assert [one.exitcode for one in each] == [0] * 4
    assert len(contents(tmp_path, OURS.verifier).entries) == 20


def test_a_full_disk_leaves_the_log_as_it_was(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    filled(tmp_path, 2)

    def full(path: Path, _data: bytes) -> None:
        raise OSError(28, "No space left on device", str(path))

    with log(tmp_path) as made:
        monkeypatch.setattr(module, "write_whole", full)
        with pytest.raises(LogError, match="No space left"):
            made.append(entry(2))
        with pytest.raises(LogError, match="No space left"):
            made.publish([])
        assert len(made.leaves) == 2
    assert len(contents(tmp_path, OURS.verifier).entries) == 2


def test_bounds_and_places_that_are_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(LogError, match="cannot write the log"), log(tmp_path / "file"):
        pass
    filled(tmp_path / "log", 2)
    monkeypatch.setattr(module, "MOST", 2)
    with log(tmp_path / "log") as made, pytest.raises(LogError, match="is full"):
        made.append(entry(2))
    monkeypatch.setattr(module, "MOST", 1)
    with pytest.raises(LogError, match="expected at most 1"):
        CertificateLog(tmp_path / "log", OURS)


def test_the_root_of_nothing_is_that_of_the_specification() -> None:
    assert root_of([]) == EMPTY.root
    assert root_of([_core.leaf_hash(b"a")]) == _core.leaf_hash(b"a")
