"""A tape goes once an erased copy of it is there that verifies by a trusted key, and none besides."""

from __future__ import annotations

from pathlib import Path
from shutil import copyfile

import pytest
from tests.unit.store.test_live_upload import SIGNER, Recorder

from faultwire.errors import TapeTampered
from faultwire.store.objects import Objects
from faultwire.store.superseded import Superseded, _follows, _Log, remove, superseded
from faultwire.store.tapes import collect_garbage, kept, pull, push
from faultwire.tape.evidence.sealer import seal_path
from faultwire.tape.evidence.signed_note import SignerKey
from faultwire.tape.files import erase as erasing
from faultwire.tape.files.copy import clone

TRUSTED = [SIGNER.verifier]


@pytest.fixture
def objects(tmp_path: Path) -> Objects:
    (tmp_path / "team").mkdir()
    return Objects(str(tmp_path / "team"))


def tape(path: Path, count: int = 60) -> Path:
    made = Recorder(path)
    made.add(count)
    made.seal()
    return path


def copied(path: Path, name: str) -> Path:
    new = path.with_name(name)
    for source, target in ((path, new), (seal_path(path), seal_path(new))):
        copyfile(source, target)
    return new


def erased(path: Path, name: str, key: SignerKey = SIGNER, count: int = 3) -> Path:
    new = copied(path, name)
    found = list(erasing.bodies(new, lambda _: True))[:count]
    erasing.erase(new, found, "asked to", "ann", key)
    return new


def test_a_tape_goes_once_its_erased_copy_is_there(tmp_path: Path, objects: Objects) -> None:
    old, other = tape(tmp_path / "a.tape"), tape(tmp_path / "o.tape", 61)
    one, two = push(objects, old, "shop"), push(objects, other, "shop")
    assert list(superseded(objects, "shop", TRUSTED)) == []
    new = push(objects, erased(old, "e.tape"), "shop")
    (found,) = superseded(objects, "shop", TRUSTED)
    assert found == Superseded(one.digest, new.digest)
    assert len(kept(objects, "shop")) == 3, "asking removes nothing"
    assert remove(objects, "shop", found) > 0
    assert kept(objects, "shop") == sorted([two.digest, new.digest])
    for digest in kept(objects, "shop"):
        pull(objects, digest, "shop", tmp_path / f"{digest}.tape")
    assert list(superseded(objects, "shop", TRUSTED)) == []
    assert list(collect_garbage(objects, now_s=lambda: 1e12)) == [], "its pieces are gone, too"


def test_what_another_project_needs_stays(tmp_path: Path, objects: Objects) -> None:
    old = tape(tmp_path / "a.tape")
    done = push(objects, old, "shop")
    push(objects, old, "lab")
    push(objects, erased(old, "e.tape"), "shop")
    (found,) = superseded(objects, "shop", TRUSTED)
    assert remove(objects, "shop", found) == 0
    assert pull(objects, done.digest, "lab", tmp_path / "b.tape").read_bytes() == old.read_bytes()
    assert list(superseded(objects, "lab", TRUSTED)) == [], "its copy is another project's"


def test_a_copy_by_a_key_that_is_not_trusted_takes_no_place(tmp_path: Path, objects: Objects) -> None:
    old = tape(tmp_path / "a.tape")
    done = push(objects, old, "shop")
    new = push(objects, erased(old, "e.tape", SignerKey.fresh("stranger")), "shop")
    (found,) = superseded(objects, "shop", TRUSTED)
    assert (found.digest, found.by, found.kept_for is None) == (done.digest, new.digest, False)
    with pytest.raises(ValueError, match="not removed"):
        remove(objects, "shop", found)
    assert done.digest in kept(objects, "shop")


def test_a_copy_that_does_not_come_back_whole_takes_no_place(tmp_path: Path, objects: Objects) -> None:
    old = tape(tmp_path / "a.tape")
    push(objects, old, "shop")
    before = {name for name, _ in objects.list("blobs/")}
    push(objects, erased(old, "e.tape"), "shop")
    (name, *_) = {name for name, _ in objects.list("blobs/")} - before
    data = objects.get(name) or b""
    objects.put(name, data[:-1] + bytes([data[-1] ^ 1]))
    assert list(superseded(objects, "shop", TRUSTED)) == []
    objects.put(name, data)
    assert len(list(superseded(objects, "shop", TRUSTED))) == 1


def test_a_copy_without_an_erasure_or_of_other_events_takes_no_place(
    tmp_path: Path, objects: Objects
) -> None:
    old = tape(tmp_path / "a.tape")
    push(objects, old, "shop")
    clone(old, tmp_path / "c.tape", "test/a", SIGNER)
    push(objects, tmp_path / "c.tape", "shop")
    longer = tape(tmp_path / "l.tape", 70)  # of the same origin, and erased from
    push(objects, erased(longer, "f.tape"), "shop")
    assert list(superseded(objects, "shop", TRUSTED)) == []


def test_each_of_several_erasures_takes_the_place_of_the_one_before(tmp_path: Path, objects: Objects) -> None:
    old = tape(tmp_path / "a.tape")
    first = erased(old, "e.tape")
    second = erased(first, "f.tape")
    digests = [push(objects, path, "shop").digest for path in (old, first, second)]
    found = list(superseded(objects, "shop", TRUSTED))
    assert {one.digest for one in found} == set(digests[:2])
    for one in found:
        remove(objects, "shop", one)
    assert kept(objects, "shop") == digests[2:]


def test_a_manifest_of_a_version_before_is_compared_with_all(tmp_path: Path, objects: Objects) -> None:
    old = tape(tmp_path / "a.tape")
    done = push(objects, old, "shop")
    path = tmp_path / "team" / "tapes" / "shop" / f"{done.digest}.json"
    path.write_text(path.read_text().replace('"origin": "test/a", ', ""))
    assert "origin" not in path.read_text()
    push(objects, erased(old, "e.tape"), "shop")
    assert [one.digest for one in superseded(objects, "shop", TRUSTED)] == [done.digest]


def test_where_a_manifest_cannot_be_read_nothing_is_said(tmp_path: Path, objects: Objects) -> None:
    done = push(objects, tape(tmp_path / "a.tape"), "shop")
    (tmp_path / "team" / "tapes" / "shop" / f"{done.digest}.json").write_text("{")
    with pytest.raises(TapeTampered):
        list(superseded(objects, "shop", TRUSTED))


A, B, C, D = (bytes([number]) * 32 for number in range(4))


@pytest.mark.parametrize(
    ("events", "erasures", "follows"),
    [
        ((A, B, C), (2,), True),
        ((A, B, C, D), (2,), True),
        ((A, B, C), (), False),  # it goes on with something else
        ((A, B, C, D), (3,), False),  # something else stands before the erasure
        ((A, C, B), (2,), False),  # of other events
        ((A, B), (2,), False),  # of no event more
        ((A,), (0,), False),
    ],
)
def test_only_all_events_and_an_erasure_right_behind_them_take_a_place(
    events: tuple[bytes, ...], erasures: tuple[int, ...], follows: bool
) -> None:
    assert _follows(_Log("new", events, erasures, None), _Log("old", (A, B), (), None)) is follows
