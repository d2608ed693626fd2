"""Tapes go whole or not at all, and come back as they were sealed or not at all."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from faultwire.errors import FaultwireError, TapeTampered, UsageError
from faultwire.store import pieces
from faultwire.store.objects import Objects
from faultwire.store.tapes import GRACE_S, collect_garbage, kept, pull, push
from faultwire.tape.evidence.sealer import seal_path
from faultwire.tape.evidence.signed_note import SignerKey
from faultwire.tape.evidence.verify import verify
from faultwire.tape.files.collect import collect

SIGNER = SignerKey.fresh("test")


@pytest.fixture(autouse=True)
def small_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    for size in ("BLOCK", "WINDOW"):
        monkeypatch.setattr(pieces, size, 4096)


@pytest.fixture
def tape(tmp_path: Path) -> Path:
    path = tmp_path / "a.tape"
    collect({}, path, "test/a", SIGNER)
    return path


@pytest.fixture
def objects(tmp_path: Path) -> Objects:
    (tmp_path / "team").mkdir()
    return Objects(str(tmp_path / "team"))


def files(folder: Path, part: str) -> list[Path]:
    return sorted(path for path in (folder / "team" / part).rglob("*") if path.is_file())


def test_a_tape_comes_back_as_it_was_with_its_seal(tmp_path: Path, tape: Path, objects: Objects) -> None:
    done = push(objects, tape, "shop")
    assert done.sent > 2
    target = pull(objects, done.digest[:10], "shop", tmp_path / "b.tape")
    assert target.read_bytes() == tape.read_bytes()
    assert seal_path(target).read_bytes() == seal_path(tape).read_bytes()
    assert not [one for one in verify(target, [SIGNER.verifier], demanded=True).findings if not one.is_note]
    assert kept(objects, "shop") == [done.digest]
    assert kept(objects, "other") == []


def test_what_is_there_is_not_sent_again(tape: Path, objects: Objects) -> None:
    first, again = push(objects, tape, "shop"), push(objects, tape, "other")
    assert (again.sent, again.known) == (0, first.sent + first.known)


class Failing(Objects):
    """Fails at the n-th write."""

    def __init__(self, place: str, at: int) -> None:
        super().__init__(place)
        self.left = at

    def put(self, name: str, data: bytes) -> None:
        if not self.left:
            raise FaultwireError("the bucket is full", code="tapes.failed")
        self.left -= 1
        super().put(name, data)


def test_an_upload_that_was_cut_is_no_tape_and_goes_on(tmp_path: Path, tape: Path, objects: Objects) -> None:
    with pytest.raises(FaultwireError, match="full"):
        push(Failing(str(tmp_path / "team"), 2), tape, "shop")
    assert kept(objects, "shop") == []
    done = push(objects, tape, "shop")
    assert done.known >= 2
    assert pull(objects, done.digest, "shop", tmp_path / "b.tape").read_bytes() == tape.read_bytes()


def bend(path: Path) -> None:
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    path.write_bytes(bytes(data))


def shorten(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-1])


@pytest.mark.parametrize("part", ["blobs", "tapes"])
@pytest.mark.parametrize("harm", [bend, shorten, Path.unlink])
def test_whatever_is_harmed_no_tape_comes_back(
    tmp_path: Path, tape: Path, objects: Objects, part: str, harm: Callable[[Path], None]
) -> None:
    done = push(objects, tape, "shop")
    for number, path in enumerate(files(tmp_path, part)):
        whole = path.read_bytes()
        harm(path)
        target = tmp_path / f"back{number}.tape"
        with pytest.raises((TapeTampered, UsageError)):
            pull(objects, done.digest, "shop", target)
        assert [one.name for one in tmp_path.iterdir() if "back" in one.name] == []
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(whole)
    pull(objects, done.digest, "shop", tmp_path / "whole.tape")


def test_a_manifest_of_another_tape_is_found(tmp_path: Path, tape: Path, objects: Objects) -> None:
    other = tmp_path / "other.tape"
    collect({}, other, "test/other", SIGNER)
    one, two = push(objects, tape, "shop"), push(objects, other, "shop")
    folder = tmp_path / "team" / "tapes" / "shop"
    (folder / f"{one.digest}.json").write_bytes((folder / f"{two.digest}.json").read_bytes())
    with pytest.raises(TapeTampered, match="another tape"):
        pull(objects, one.digest, "shop", tmp_path / "b.tape")


def test_a_later_manifest_is_refused(tmp_path: Path, tape: Path, objects: Objects) -> None:
    done = push(objects, tape, "shop")
    (path,) = files(tmp_path, "tapes")
    path.write_text(json.dumps({**json.loads(path.read_text()), "version": 2}))
    with pytest.raises(TapeTampered, match="version `2`"):
        pull(objects, done.digest, "shop", tmp_path / "b.tape")


def test_only_a_sealed_tape_that_verifies_is_sent(tmp_path: Path, tape: Path, objects: Objects) -> None:
    plain = tmp_path / "plain.tape"
    collect({}, plain, "test/plain", None)
    with pytest.raises(UsageError) as raised:
        push(objects, plain, "shop")
    assert raised.value.code == "tapes.unsealed"
    bend(tape)
    with pytest.raises(TapeTampered):
        push(objects, tape, "shop")
    assert files(tmp_path, "") == []


def test_tapes_that_are_not_there_are_refused(tmp_path: Path, tape: Path, objects: Objects) -> None:
    done = push(objects, tape, "shop")
    for digest, code in (("0" * 64, "tapes.none"), ("", "tapes.none")):
        with pytest.raises(UsageError) as raised:
            pull(objects, digest, "shop", tmp_path / "b.tape")
        assert raised.value.code == code
    with pytest.raises(UsageError, match="expected a new name"):
        pull(objects, done.digest, "shop", tape)


def test_garbage_is_what_no_tape_of_any_project_needs_and_is_old(
    tmp_path: Path, tape: Path, objects: Objects
) -> None:
    done = push(objects, tape, "shop")
    objects.put("blobs/00/" + "0" * 64, b"left by an upload that was cut")
    assert list(collect_garbage(objects)) == []  # it may be under way
    later = max(changed for _, changed in objects.list("blobs/")) + GRACE_S + 1
    assert list(collect_garbage(objects, dry_run=True, now_s=lambda: later)) == ["0" * 64]
    assert list(collect_garbage(objects, now_s=lambda: later)) == ["0" * 64]
    assert list(collect_garbage(objects, now_s=lambda: later)) == []
    pull(objects, done.digest, "shop", tmp_path / "b.tape")


def test_where_a_manifest_cannot_be_read_nothing_is_removed(
    tmp_path: Path, tape: Path, objects: Objects
) -> None:
    push(objects, tape, "shop")
    before = files(tmp_path, "blobs")
    (path,) = files(tmp_path, "tapes")
    path.write_text("{")
    with pytest.raises(TapeTampered):
        list(collect_garbage(objects, now_s=lambda: 1e12))
    assert files(tmp_path, "blobs") == before
